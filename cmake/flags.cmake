# Compiler and linker flags, the same for every target (STYLE: warnings that earn their keep).
set(ORCH_WARNINGS -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wformat=2 -Wvla -Wundef
    -Wcast-qual -Wpointer-arith -Wdouble-promotion -Wimplicit-fallthrough -Wnull-dereference)
set(ORCH_C_WARNINGS -Wstrict-prototypes -Wmissing-prototypes -Werror=implicit-function-declaration
    -Werror=int-conversion -Werror=incompatible-pointer-types)
if(ORCH_WERROR)
  list(APPEND ORCH_WARNINGS -Werror)
endif()
# A backtrace has names and lines; values of variables are what a debug build is for (preset dev).
foreach(language C CXX)
  string(REGEX REPLACE "(^| )-g( |$)" "\\1-g1\\2" CMAKE_${language}_FLAGS_RELWITHDEBINFO "${CMAKE_${language}_FLAGS_RELWITHDEBINFO}")
endforeach()
# messages name files as the tree does, not by where the tree lies
add_compile_options("-fmacro-prefix-map=${ORCH_TREE}/=")
add_compile_options(${ORCH_WARNINGS} -fvisibility=hidden -fstack-protector-strong)
add_compile_options("$<$<COMPILE_LANGUAGE:C>:${ORCH_C_WARNINGS}>")
add_compile_definitions(_GNU_SOURCE)
if(ORCH_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(ORCH_SANITIZE OR ORCH_FUZZ)
  add_compile_options(-fsanitize=address,undefined -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
  add_link_options(-fsanitize=address,undefined)
else()
  add_compile_definitions("$<$<NOT:$<CONFIG:Debug>>:_FORTIFY_SOURCE=3>")
endif()
if(ORCH_TSAN)
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
  add_link_options(-fsanitize=thread)
  # GLib's locks, announced to ThreadSanitizer
  set(functions g_mutex_lock g_mutex_unlock g_mutex_trylock g_cond_wait g_cond_wait_until
      g_async_queue_push g_async_queue_try_pop g_thread_pool_new g_thread_pool_push g_idle_add_full)
  list(TRANSFORM functions PREPEND "-Wl,--wrap=")
  add_link_options(${functions})
endif()
if(ORCH_COVERAGE)
  # programs export what their plugins register with (tests/coverage/flush.c)
  add_link_options(-Wl,--wrap=_exit -Wl,--undefined=orch_coverage_register -Wl,--export-dynamic-symbol=orch_coverage_register
    -Wl,--export-dynamic-symbol=orch_coverage_exit)
endif()
add_link_options(-Wl,-z,relro,-z,now,--as-needed)
