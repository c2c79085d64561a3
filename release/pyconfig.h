// Stands in for the pyconfig.h of this machine's Python in builds for other systems: the compiler
// includes it first, and it defines that file's include guard. It says what Python's headers ask of
// a 64-bit system.
#include <stdio.h>  // nanobind takes it for granted

#define Py_PYCONFIG_H
#define SIZEOF_SHORT __SIZEOF_SHORT__
#define SIZEOF_INT __SIZEOF_INT__
#define SIZEOF_LONG __SIZEOF_LONG__
#define SIZEOF_LONG_LONG __SIZEOF_LONG_LONG__
#define SIZEOF_SIZE_T __SIZEOF_SIZE_T__
#define SIZEOF_VOID_P __SIZEOF_POINTER__
#define SIZEOF_UINTPTR_T __SIZEOF_POINTER__
#define SIZEOF_WCHAR_T __SIZEOF_WCHAR_T__
#define SIZEOF_FLOAT __SIZEOF_FLOAT__
#define SIZEOF_DOUBLE __SIZEOF_DOUBLE__
#define SIZEOF_TIME_T 8
#define SIZEOF_PID_T 4
#define SIZEOF_OFF_T 8
#define ALIGNOF_SIZE_T 8
#define HAVE_LONG_LONG 1
#define HAVE_SSIZE_T 1
#define HAVE_WCHAR_H 1
#define HAVE_SYS_STAT_H 1
#define HAVE_SYS_TIME_H 1
#define WITH_DOC_STRINGS 1
#define WITH_THREAD 1
#ifdef _WIN32
#define MS_WINDOWS 1
#define MS_WIN32 1
#define MS_WIN64 1
#define NT_THREADS 1
#define HAVE_DECLSPEC_DLL 1
#define Py_ENABLE_SHARED 1  // Python's functions come from a DLL
#define PLATLIBDIR "DLLs"
#else
#define HAVE_PTHREAD_H 1
#define HAVE_FORK 1
#define PLATLIBDIR "lib"
#endif
