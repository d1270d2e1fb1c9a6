// Read by LeakSanitizer where tests are built with it: Gloo (of May 2022) keeps the list of addresses when it refuses
// one.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
    return "leak:gloo::transport::tcp::CreateDeviceAttr\n";
}
