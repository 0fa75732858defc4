"""What all models of a C program share: a list of them, and one of the functions that their code calls by name.

Every object file defines both lists, and what reads them, as weak symbols, so that those that are linked to one program
have one of each, as they have one pool of threads. Counterparts of TVM's system library and its global functions.
"""

from __future__ import annotations

from ...dialects.support.checks import EXCEPTION
from ...lowering.abi import CALL_PACKED

FUNCTIONS = ("weft_system_lib", "weft_register_func")
"""What the header declares for all models."""
SYMBOLS = (*FUNCTIONS, "weft_registry_*")
"""What is one in a program, whatever the number of its models."""

DECLARED = """
/* The model of a name, of all that are linked to the program or were loaded with RTLD_GLOBAL; the newest, where
   several have it, and NULL where none has. A linker takes a model out of an archive (.a) only if something refers to
   it, unless it is told to take all (--whole-archive). */
const weft_model *weft_system_lib(const char *name);

/* What a function is given that code calls by name: each argument, and behind them room for the result. */
typedef union weft_value {
  int64_t integer;
  double number; /* floats of every width */
  void *buffer;  /* of the elements of a tensor, one after the other */
} weft_value;

/* `types` says what is given, "const float32[4x16],int64|float64": the arguments, tensors with their extents, `const`
   those that are only to be read, and behind the bar the result, or nothing. Gives 0 where all went well; any other
   number is told by `message`. */
typedef int64_t (*weft_function)(const char *types, weft_value *values);

/* Have code that calls `name` (T.call_packed) call `function`, which threads may do at once. Gives 0, or what `message`
   has the words for where there is no memory. */
int64_t weft_register_func(const char *name, weft_function function);
"""

_NOT_REGISTERED = "INT64_MIN"

_MODELS = """
/* What is entered, the newest first. Nothing is ever taken out. */
struct weft_registered {{
  const char *name;
  const weft_model *(*model)(void);
  weft_function function;
  struct weft_registered *next;
}};

__attribute__((weak)) _Atomic(struct weft_registered *) weft_registry_1_models;
__attribute__((weak)) _Atomic(struct weft_registered *) weft_registry_1_functions;

static void enter(_Atomic(struct weft_registered *) *list, struct weft_registered *entry) {{
  entry->next = atomic_load(list);
  while (!atomic_compare_exchange_weak(list, &entry->next, entry))
    continue;
}}

static const struct weft_registered *entered(_Atomic(struct weft_registered *) *list, const char *name,
                                             size_t length) {{
  const struct weft_registered *found = atomic_load(list);
  while (found != NULL && (strncmp(found->name, name, length) != 0 || found->name[length] != 0))
    found = found->next;
  return found;
}}

__attribute__((weak)) const weft_model *weft_system_lib(const char *name) {{
  const struct weft_registered *found = entered(&weft_registry_1_models, name, strlen(name));
  return found == NULL ? NULL : found->model();
}}

__attribute__((weak)) int64_t weft_register_func(const char *name, weft_function function) {{
  size_t length = strlen(name) + 1;
  struct weft_registered *entry = malloc(sizeof *entry + length);
  if (entry == NULL)
    return NO_MEMORY;
  entry->name = memcpy(entry + 1, name, length);
  entry->function = function;
  enter(&weft_registry_1_functions, entry);
  return 0;
}}

__attribute__((constructor)) static void enter_model(void) {{
  static struct weft_registered entry;
  entry.name = "{name}";
  entry.model = {name}_model;
  enter(&weft_registry_1_models, &entry);
}}
"""

_CALLS = f"""
int64_t {CALL_PACKED}(const char *what, weft_value *values);

int64_t {CALL_PACKED}(const char *what, weft_value *values) {{
  const char *bar = strchr(what, '|');
  const struct weft_registered *found = entered(&weft_registry_1_functions, what, (size_t)(bar - what));
  return found == NULL ? {_NOT_REGISTERED} : found->function(bar + 1, values);
}}
"""

SAID = f"""}} else if (strncmp(said, "{EXCEPTION}", {len(EXCEPTION)}) == 0) {{
      if (index == {_NOT_REGISTERED}) {{
        static const char none[] = "no function of this name was given to weft_register_func";
        put(text, none, sizeof none - 1);
      }} else {{
        static const char gave[] = "it gave ";
        put(text, gave, sizeof gave - 1);
        put_number(text, index);
      }}
      said += {len(EXCEPTION)};
    """
"""The branch of `message` for what is said of a function that fails."""


def registry(name: str, calls_functions: bool) -> str:
    """C11 that enters the model `name`, and finds the functions that its code calls, if it does."""
    return _MODELS.format(name=name) + (_CALLS if calls_functions else "")
