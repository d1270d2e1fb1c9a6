#pragma once

// Errors that a user can cause travel as values. A message says what was found and what was expected, `where`
// names the file and the place in it, `hint` what to do next. Bugs are asserts; exceptions do not cross a module.

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace shardscope::core {

/// The kind of an error decides the exit code of the command line (docs/cli.md).
enum class ErrorCode {
    Usage,        ///< the command line itself is wrong
    Input,        ///< a file's content or a value in it is wrong
    Io,           ///< a file cannot be opened, read or written
    Unsupported,  ///< understood, but not something that this program can do
    Cancelled,    ///< interrupted by the user
    Internal,     ///< a fault of this program that a check found, such as a graph that was built wrong
};

struct [[nodiscard]] Error {
    ErrorCode code = ErrorCode::Input;
    std::string message;  ///< what was found and what was expected
    std::string where;    ///< file and place, e.g. "vit.toml:12 [parallelism] data_parallel_shard_degree"; may be empty
    std::string hint;     ///< what to do; may be empty

    friend bool operator==(const Error&, const Error&) = default;
};

template <class T>
using Result = tl::expected<T, Error>;

[[nodiscard]] inline tl::unexpected<Error> fail(ErrorCode code, std::string message, std::string where = {},
                                                std::string hint = {}) {
    return tl::unexpected<Error>(Error{code, std::move(message), std::move(where), std::move(hint)});
}

/// `where: message` and, on its own line, `hint`: the form in which every face prints an error. Control
/// characters that came from the user's files are spelled out.
[[nodiscard]] std::string describe(const Error& error);

}  // namespace shardscope::core

// Returns from the calling function when `expression` holds an error.
#define SHARDSCOPE_TRY(expression)                                    \
    do {                                                              \
        if (auto shardscopeTry_ = (expression); !shardscopeTry_)      \
            return tl::unexpected(std::move(shardscopeTry_).error()); \
    } while (false)

#define SHARDSCOPE_CONCAT_INNER(a, b) a##b
#define SHARDSCOPE_CONCAT(a, b) SHARDSCOPE_CONCAT_INNER(a, b)

// NOLINTBEGIN(bugprone-macro-parentheses): a declaration and a name take none.
// `SHARDSCOPE_ASSIGN(auto model, readModel(bytes));` declares `model`, or returns the error.
#define SHARDSCOPE_ASSIGN(declaration, expression) \
    SHARDSCOPE_ASSIGN_NAMED(SHARDSCOPE_CONCAT(shardscopeResult_, __LINE__), declaration, expression)
#define SHARDSCOPE_ASSIGN_NAMED(name, declaration, expression) \
    auto name = (expression);                                  \
    if (!name) return tl::unexpected(std::move(name).error()); \
    declaration = std::move(*name)
// NOLINTEND(bugprone-macro-parentheses)
