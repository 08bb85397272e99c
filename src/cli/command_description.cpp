// SPDX-License-Identifier: Apache-2.0
// cli/command_description.cpp — completions of three shells, and the manual page.
#include "cli/command_description.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/verbs.h"
#include "tilewright/version.h"

namespace tilewright::cli {
namespace {

std::string replaced(std::string text, std::string_view wanted, std::string_view by) {
  for (std::size_t at = text.find(wanted); at != std::string::npos;
       at = text.find(wanted, at + by.size()))
    text.replace(at, wanted.size(), by);
  return text;
}

// Within '...' of any of the shells; fish alone would take \' as well.
std::string quoted_for_shell(const std::string& text) {
  return "'" + replaced(text, "'", "'\\''") + "'";
}

std::vector<std::string> names_with_dashes(const DescribedOption& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.short_names) names.push_back("-" + name);
  for (const std::string& name : option.long_names) names.push_back("--" + name);
  return names;
}

// ---- bash

// Options where the word begins with a dash, else the names of inner verbs, else files.
std::string bash_case(const DescribedVerb& verb) {
  std::vector<std::string> words;
  for (const DescribedOption& option : verb.options)
    for (const std::string& name : names_with_dashes(option)) words.push_back(name);
  std::vector<std::string> inner;
  for (const DescribedVerb& each : verb.verbs) inner.push_back(each.name);
  return fmt::format("    {})\n      options='{}'\n      verbs='{}'\n      ;;\n", verb.name,
                     fmt::join(words, " "), fmt::join(inner, " "));
}

std::string for_bash(const DescribedVerb& command) {
  std::string out =
      "# bash completion of tilewright\n_tilewright() {\n  local options verbs\n"
      "  local word=${COMP_WORDS[COMP_CWORD]}\n  COMPREPLY=()\n";
  std::vector<std::string> verbs;
  for (const DescribedVerb& verb : command.verbs) verbs.push_back(verb.name);
  out += fmt::format(
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W '{} --help --version' -- \"$word\"))\n    return\n  fi\n"
      "  case ${{COMP_WORDS[1]}} in\n",
      fmt::join(verbs, " "));
  for (const DescribedVerb& verb : command.verbs) out += bash_case(verb);
  return out +
         "  esac\n"
         "  if [[ $word == -* ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n"
         "  elif [ -n \"$verbs\" ]; then\n"
         "    COMPREPLY=($(compgen -W \"$verbs\" -- \"$word\"))\n"
         "  else\n"
         "    COMPREPLY=($(compgen -f -- \"$word\"))\n"
         "  fi\n}\n"
         "complete -o filenames -F _tilewright tilewright\n";
}

// ---- zsh

std::string zsh_text(std::string text) {
  for (const char c : {'[', ']', ':'})
    text = replaced(std::move(text), std::string(1, c), std::string("\\") + c);
  return text;
}

std::string zsh_case(const DescribedVerb& verb) {
  std::string out = fmt::format("    {})\n      _arguments", verb.name);
  for (const DescribedOption& option : verb.options)
    for (const std::string& name : names_with_dashes(option))
      out += " \\\n        " +
             quoted_for_shell(fmt::format("*{}[{}]{}", name, zsh_text(option.text),
                                          option.takes_value ? ":value:_files" : ""));
  std::vector<std::string> inner;
  for (const DescribedVerb& each : verb.verbs) inner.push_back(each.name);
  const std::string rest =
      inner.empty() ? "*:argument:_files" : fmt::format("*:verb:({})", fmt::join(inner, " "));
  return out + " \\\n        " + quoted_for_shell(rest) + "\n      ;;\n";
}

std::string for_zsh(const DescribedVerb& command) {
  std::string out = "#compdef tilewright\n_tilewright() {\n  local -a verbs\n  verbs=(\n";
  for (const DescribedVerb& verb : command.verbs)
    out += fmt::format("    {}\n",
                       quoted_for_shell(fmt::format("{}:{}", verb.name, zsh_text(verb.text))));
  out +=
      "  )\n  if (( CURRENT == 2 )); then\n    _describe 'verb' verbs\n    return\n  fi\n"
      "  local verb=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $verb in\n";
  for (const DescribedVerb& verb : command.verbs) out += zsh_case(verb);
  return out + "  esac\n}\n_tilewright \"$@\"\n";
}

// ---- fish

std::string for_fish(const DescribedVerb& command) {
  std::string out = "# fish completion of tilewright\n";
  for (const DescribedVerb& verb : command.verbs)
    out += fmt::format("complete -c tilewright -n __fish_use_subcommand -f -a {} -d {}\n",
                       verb.name, quoted_for_shell(verb.text));
  for (const DescribedVerb& verb : command.verbs) {
    const std::string when = quoted_for_shell("__fish_seen_subcommand_from " + verb.name);
    for (const DescribedVerb& inner : verb.verbs)
      out += fmt::format("complete -c tilewright -n {} -f -a {} -d {}\n", when, inner.name,
                         quoted_for_shell(inner.text));
    for (const DescribedOption& option : verb.options) {
      out += "complete -c tilewright -n " + when;
      for (const std::string& name : option.short_names) out += " -s " + name;
      for (const std::string& name : option.long_names) out += " -l " + name;
      out +=
          fmt::format("{} -d {}\n", option.takes_value ? " -r" : "", quoted_for_shell(option.text));
    }
  }
  return out;
}

// ---- man

// Characters that roff would take for its own.
std::string roff(std::string text) {
  text = replaced(std::move(text), "\\", "\\e");
  text = replaced(std::move(text), "-", "\\-");
  text = replaced(std::move(text), "'", "\\(aq");
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool begins_line = i == 0 || text[i - 1] == '\n';
    if (begins_line && text[i] == '.') out += "\\&";
    out += text[i];
  }
  return out;
}

std::string man_option(const DescribedOption& option) {
  std::string name = fmt::format("{}", fmt::join(names_with_dashes(option), ", "));
  if (option.takes_value) name += " VALUE";
  return fmt::format(".TP\n.B {}\n{}\n", roff(name), roff(option.text));
}

std::string man_verb(const DescribedVerb& verb, const std::string& parent) {
  std::string usage = parent + verb.name;
  for (const DescribedOption& positional : verb.positionals)
    usage += " " + positional.long_names.front();
  std::string out = fmt::format(".SS {}\n{}.\n", roff(usage), roff(verb.text));
  for (const DescribedOption& positional : verb.positionals)
    out +=
        fmt::format(".TP\n.I {}\n{}\n", roff(positional.long_names.front()), roff(positional.text));
  for (const DescribedOption& option : verb.options) out += man_option(option);
  if (!verb.examples.empty()) out += fmt::format(".PP\n.nf\n{}\n.fi\n", roff(verb.examples));
  for (const DescribedVerb& inner : verb.verbs) out += man_verb(inner, parent + verb.name + " ");
  return out;
}

std::string for_man(const DescribedVerb& command) {
  std::string out = fmt::format(
      ".TH TILEWRIGHT 1 \"\" \"tilewright {}\" \"User Commands\"\n.SH NAME\ntilewright \\- {}\n"
      ".SH SYNOPSIS\n.B tilewright\n.I VERB\n[options]\n.SH VERBS\n",
      version(), roff(command.text));
  for (const DescribedVerb& verb : command.verbs) out += man_verb(verb, "");
  return out +
         ".SH EXIT STATUS\n"
         "0 on success; 1 when the work failed; 2 for a wrong command line; 3 when bench "
         "\\-\\-baseline found something slower; 4 when run \\-\\-expect or \\-\\-compare "
         "found a difference; 130 after an interrupt.\n";
}

}  // namespace

std::string written_description(const DescribedVerb& command, const std::string& form) {
  if (form == "bash") return for_bash(command);
  if (form == "zsh") return for_zsh(command);
  if (form == "fish") return for_fish(command);
  if (form == "man") return for_man(command);
  throw UsageError{fmt::format("completion is for bash, zsh, fish or man, not for '{}'", form)};
}

}  // namespace tilewright::cli
