"""Object files of ELF, read, linked to each other, and written as a shared object that the system loads."""
