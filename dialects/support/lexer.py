"""xDSL's lexer, in linear time.

The expression by which xDSL 0.74 reads a string tries every way of cutting its letters into runs: where the closing
quote is forgotten, twice as long for each letter. Here a run of letters is taken whole and never given back.

A string is one whatever letters it has: xDSL prints those beyond ASCII as the bytes of UTF-8 in hexadecimal digits, and
reads these as bytes, which are no name any more.
"""

from __future__ import annotations

import re

from xdsl.utils.lexer import Position, Span, Token
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRToken, MLIRTokenKind, StringLiteral


class LinearLexer(MLIRLexer):
    """Reads what `MLIRLexer` reads, in time that grows with the text and not with the number of ways to cut it."""

    _unescaped_characters_regex = re.compile(r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"')

    def _lex_string_literal(self, start_pos: Position) -> MLIRToken:
        token = super()._lex_string_literal(start_pos)
        if token.kind is not MLIRTokenKind.BYTES_LIT or not _is_text(token.span):
            return token
        return Token(MLIRTokenKind.STRING_LIT, token.span)


def _is_text(span: Span) -> bool:
    try:
        StringLiteral.from_span(span).bytes_contents.decode()
    except UnicodeDecodeError:
        return False
    return True
