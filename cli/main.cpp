// The program: reads the command line by the table of commands, runs one, and ends with the exit code of docs/cli.md.

#include <unistd.h>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <exception>
#include <functional>
#include <new>
#include <sstream>
#include <string>
#include <system_error>
#include <type_traits>

#include "cli/command/command.h"
#include "core/base/nearest.h"
#include "traces/formats/sink.h"

namespace {

using namespace shardscope;

/// Nothing half-written stays, whatever ends the program. A signal that asks for a core dump still gets one.
extern "C" void interrupted(int signal) {
    formats::removePartialFiles();
    if (signal != SIGQUIT && signal != SIGXCPU) _exit(130);
    std::signal(signal, SIG_DFL);
    raise(signal);
}

void handleSignals() {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU}) {
        struct sigaction action {};
        // What a parent ignores for its children (nohup, a shell's background job) stays ignored.
        if (sigaction(signal, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) continue;
        action = {};
        action.sa_handler = interrupted;
        sigfillset(&action.sa_mask);
        sigaction(signal, &action, nullptr);
    }
    std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of the write
}

/// Refuses the empty word, which is not the same as none.
std::string checkNotEmpty(const std::string& word) {
    return word.empty() ? "found \"\", expected a word" : "";
}

/// Refuses what is no decimal number of that range; `Number` says whether a whole one is expected.
template <class Number>
std::function<std::string(const std::string&)> checkNumber(Number lowest, Number highest, const char* unit = "") {
    return [=](const std::string& word) -> std::string {
        Number value{};
        const char* end = word.data() + word.size();
        const auto [rest, fault] = std::from_chars(word.data(), end, value);
        // What begins with 0 would be read as octal.
        const std::size_t sign = word.starts_with('-') ? 1 : 0;
        const bool octal = std::is_integral_v<Number> && word.size() > sign + 1 && word[sign] == '0';
        if (fault == std::errc() && rest == end && !octal && value >= lowest && value <= highest) return "";
        return fmt::format("expected a {}number from {} to {}{}, found \"{}\"",
                           std::is_integral_v<Number> ? "whole " : "", lowest, highest, unit, word.substr(0, 60));
    };
}

void bind(CLI::App& app, std::string_view names, std::string_view operand, std::string_view what, cli::Arguments& a) {
    const std::string spelled(names), text(what);
    CLI::Option* option = nullptr;
    if (names == "--set") option = app.add_option(spelled, a.set, text)->allow_extra_args(false);
    if (names == "--strategy") option = app.add_option(spelled, a.strategies, text)->check(checkNotEmpty, "");
    if (names == "--naive-micro-batch")
        option = app.add_option(spelled, a.naiveMicroBatch, text)
                     ->check(checkNumber(std::int64_t{1}, std::int64_t{1} << 30), "");
    if (names == "-o,--output") option = app.add_option(spelled, a.outputs, text)->allow_extra_args(false);
    if (names == "--over") option = app.add_option(spelled, a.over, text)->required();
    if (names == "--language") option = app.add_option(spelled, a.language, text)->check(CLI::IsMember({"en", "ko"}));
    if (names == "--device") option = app.add_option(spelled, a.device, text);
    if (names == "--ranks") option = app.add_option(spelled, a.ranks, text)->check(checkNumber(1, 64), "");
    if (names == "--data") option = app.add_option(spelled, a.data, text)->check(checkNotEmpty, "");
    if (names == "--no-set-epoch") option = app.add_flag(spelled, a.noSetEpoch, text);
    if (names == "--link-bandwidth")
        option = app.add_option(spelled, a.linkBandwidth, text)->check(checkNumber(1e-6, 1e6, " GB/s"), "");
    if (names == "--link-latency")
        option = app.add_option(spelled, a.linkLatency, text)->check(checkNumber(0.0, 1e6, " microseconds"), "");
    if (names == "--compare") option = app.add_flag(spelled, a.compare, text);
    if (names == "--machine") option = app.add_option(spelled, a.machine, text)->check(checkNotEmpty, "");
    if (names == "--steps") option = app.add_option(spelled, a.steps, text)->check(checkNumber(1, 100'000), "");
    if (names == "--ranks-as")
        option = app.add_option(spelled, a.ranksAs, text)->check(CLI::IsMember({"processes", "threads"}));
    if (names == "--rendezvous") option = app.add_option(spelled, a.rendezvous, text)->check(checkNotEmpty, "");
    if (names == "--rank") option = app.add_option(spelled, a.rank, text)->check(checkNumber(0, 63), "");
    if (names == "--join-timeout")
        option = app.add_option(spelled, a.joinTimeout, text)->check(checkNumber(1, 86'400), "");
    if (names == "--timeout") option = app.add_option(spelled, a.timeout, text)->check(checkNumber(1, 86'400), "");
    if (names == "--test-images")
        option = app.add_option(spelled, a.testImages, text)->check(checkNumber(0, 1'000'000), "");
    if (names == "--lr-schedule")
        option = app.add_option(spelled, a.schedule, text)->check(CLI::IsMember({"constant", "cosine"}));
    if (names == "--log-json") option = app.add_option(spelled, a.logJson, text)->check(checkNotEmpty, "");
    if (names == "--runs") option = app.add_option(spelled, a.runs, text)->allow_extra_args(false);
    if (names == "--collectives") option = app.add_option(spelled, a.collectives, text)->allow_extra_args(false);
    if (names == "--gemm") option = app.add_option(spelled, a.gemm, text)->allow_extra_args(false);
    if (names == "--attention") option = app.add_option(spelled, a.attention, text)->allow_extra_args(false);
    if (names == "--csv") option = app.add_flag(spelled, a.csv, text);
    if (names == "--json") option = app.add_flag(spelled, a.json, text);
    if (names == "--explain") option = app.add_flag(spelled, a.explain, text);
    if (names == "--why-memory") option = app.add_flag(spelled, a.whyMemory, text);
    if (names == "--why-idle") option = app.add_flag(spelled, a.whyIdle, text);
    if (names == "--describe") option = app.add_flag(spelled, a.describe, text);
    if (names == "--dot") option = app.add_flag(spelled, a.dot, text);
    if (option != nullptr && !operand.empty()) option->option_text(std::string(operand));
}

int complain(const core::Error& error) {
    std::fputs(cli::complaintOf(error).c_str(), stderr);
    return cli::exitCodeOf(error.code);
}

int complainOfUsage(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
    std::string hint = "see shardscope --help";
    for (const CLI::App* command : app.get_subcommands({}))
        if (command->parsed()) hint = "see shardscope " + command->get_name() + " --help";
    if (app.get_subcommands().empty() && argc > 1 && argv[1][0] != '-') {
        std::vector<std::string> names;
        for (const cli::Command& command : cli::commandTable()) names.emplace_back(command.name);
        const std::string meant = core::nearest(argv[1], names);
        const std::string word = std::string(argv[1]).substr(0, 60);
        return complain({core::ErrorCode::Usage, "no command \"" + word + "\"", "",
                         meant.empty() ? hint : "did you mean \"" + meant + "\"?"});
    }
    // A missing operand is found before an unknown option, which is more likely what went wrong.
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError))
        for (const std::string& word : app.remaining(true))
            if (word.starts_with('-'))
                return complain({core::ErrorCode::Usage, "no option \"" + word.substr(0, 60) + "\"", "", hint});
    return complain({core::ErrorCode::Usage, error.what(), "", hint});
}

int run(int argc, char** argv) {
    cli::Arguments arguments;
    arguments.program = argv[0];
    arguments.words.assign(argv, argv + argc);
    CLI::App app("Where GPUs wait in sharded training, before the run and after it.", "shardscope");
    app.set_version_flag("--version", "shardscope " SHARDSCOPE_VERSION);
    app.require_subcommand(1);
    app.footer("shardscope COMMAND --help tells more. Try: shardscope compare examples/lecture.toml");
    const cli::Command* chosen = nullptr;
    for (const cli::Command& command : cli::commandTable()) {
        CLI::App* sub = app.add_subcommand(std::string(command.name), std::string(command.summary));
        sub->footer("Example:\n  shardscope " + std::string(command.example));
        sub->callback([&chosen, &command] { chosen = &command; });
        if (!command.operand.empty()) {
            const bool optional = command.operand.front() == '[';
            std::string& target =
                command.operand.find("SCENARIO") != std::string_view::npos ? arguments.input : arguments.word;
            CLI::Option* operand = sub->add_option(
                std::string(command.operand.substr(optional ? 1 : 0, command.operand.size() - (optional ? 2 : 0))),
                target, std::string(command.operandWhat));
            operand->option_text(" ")->required(!optional)->check(checkNotEmpty, "");
        }
        for (const std::string_view names : command.options)
            for (const cli::Option& option : cli::optionTable())
                if (option.names == names) bind(*sub, option.names, option.operand, option.what, arguments);
    }
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() != 0) return complainOfUsage(app, error, argc, argv);
        std::ostringstream text;  // of --help or --version
        app.exit(error, text, text);
        const auto printed = cli::print(text.str());
        return printed ? 0 : complain(printed.error());
    }
    const auto done = chosen->run(arguments, cli::styleOfStandardOutput());
    return done ? 0 : complain(done.error());
}

}  // namespace

int main(int argc, char** argv) {
    handleSignals();
    // Errors travel as values; what is thrown nevertheless is lack of memory or a fault of this program.
    try {
        return run(argc, argv);
    } catch (const std::bad_alloc&) {
        return complain({core::ErrorCode::Unsupported, "out of memory", "",
                         "try a smaller model, fewer micro-batches or fewer ranks"});
    } catch (const std::exception& error) {
        return complain({core::ErrorCode::Internal, error.what(), "", ""});
    } catch (...) {
        return complain({core::ErrorCode::Internal, "an unknown exception", "", ""});
    }
}
