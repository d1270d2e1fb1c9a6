// Read by LeakSanitizer where tests are built with it: fontconfig, which librsvg loads fonts through, keeps its caches
// until the process ends.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
    return "leak:libfontconfig\n";
}
