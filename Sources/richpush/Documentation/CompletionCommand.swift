/// `richpush completion`: prints a completion script.
enum CompletionCommand: Command {
  static let name = "completion"
  static let summary = "prints the completion script of a shell"
  static let help = """
      source <(richpush completion bash)
      richpush completion zsh > ~/.zfunc/_richpush
      richpush completion fish > ~/.config/fish/completions/richpush.fish

    The Debian package installs all three. `completion commands` lists the names of all commands.
    """
  static let options: [Option] = []
  static let operands = ["bash|zsh|fish|commands"]

  static func run(_ arguments: Arguments) async throws {
    let commands = RichPush.commands.map(CompletedCommand.init)
    switch arguments.operands[0] {
    case "bash": Terminal.print("\(lines: bash(commands))")
    case "zsh": Terminal.print("\(lines: zsh(commands))")
    case "fish": Terminal.print("\(lines: fish(commands))")
    case "commands": Terminal.print("\(commands.map(\.name).joined(separator: " "))")
    default: throw CommandLineError.usage("usage: completion bash, zsh, fish or commands")
    }
  }

  private static func bash(_ commands: [CompletedCommand]) -> String {
    let cases = commands.map { command in
      let flags = command.options.map { "--\($0.name)" } + ["--help"]
      return """
            \(command.name))
              flags='\(flags.joined(separator: " "))' actions='\(command.actions.joined(separator: " "))'
              files='\(names(command.options, .file))' folders='\(names(command.options, .folder))' words='\(names(command.options, .word))' ;;
        """
    }
    return """
      # bash completion of richpush
      _richpush() {
        local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}
        local flags='--help --version' actions='' files='' folders='' words=''
        COMPREPLY=()
        if ((COMP_CWORD == 1)); then
          COMPREPLY=($(compgen -W '\(commands.map(\.name).joined(separator: " ")) help --help --version' -- "$current"))
          return
        fi
        case ${COMP_WORDS[1]} in
      \(cases.joined(separator: "\n"))
        esac
        case " $files " in *" $previous "*) COMPREPLY=($(compgen -f -- "$current")); return ;; esac
        case " $folders " in *" $previous "*) COMPREPLY=($(compgen -d -- "$current")); return ;; esac
        case " $words " in *" $previous "*) return ;; esac
        if [[ $current == -* ]]; then COMPREPLY=($(compgen -W "$flags" -- "$current"))
        elif ((COMP_CWORD == 2)) && [[ $actions ]]; then COMPREPLY=($(compgen -W "$actions" -- "$current"))
        else COMPREPLY=($(compgen -f -- "$current")); fi
      }
      complete -o filenames -F _richpush richpush
      """
  }

  private static func names(_ options: [Option], _ kind: CompletedCommand.Value) -> String {
    options.filter { CompletedCommand.value(of: $0) == kind }.map { "--\($0.name)" }.joined(
      separator: " ")
  }

  private static func zsh(_ commands: [CompletedCommand]) -> String {
    let cases = commands.map { command in
      let flags = command.options.map { option in
        let explanation = "[\(zshText(option.explanation))]"
        let name = (option.kind == .list ? "*--" : "--") + option.name
        let value = ":\(zshText(option.placeholder)):"
        return switch CompletedCommand.value(of: option) {
        case .none: "'\(name)\(explanation)'"
        case .file: "'\(name)=\(explanation)\(value)_files'"
        case .folder: "'\(name)=\(explanation)\(value)_files -/'"
        case .word: "'\(name)=\(explanation)\(value)'"
        }
      }
      let operands =
        command.actions.isEmpty
        ? ["'*:file:_files'"]
        : ["'1:action:(\(command.actions.joined(separator: " ")))'", "'*:file:_files'"]
      return
        "    \(command.name)) _arguments \((flags + ["'--help[explains the command]'"] + operands).joined(separator: " ")) ;;"
    }
    let list = commands.map { "'\($0.name):\(zshText($0.summary))'" }.joined(separator: " ")
    return """
      #compdef richpush
      _richpush() {
        local -a commands
        commands=(\(list))
        if ((CURRENT == 2)); then
          _describe command commands
          return
        fi
        local command=$words[2]
        shift words
        ((CURRENT--))
        case $command in
      \(cases.joined(separator: "\n"))
        esac
      }
      if [ "$funcstack[1]" = "_richpush" ]; then _richpush "$@"; else compdef _richpush richpush; fi
      """
  }

  private static func fish(_ commands: [CompletedCommand]) -> String {
    let names = commands.map(\.name).joined(separator: " ")
    var lines = [
      "# fish completion of richpush",
      "complete -c richpush -n '__fish_use_subcommand' -f",
    ]
    for command in commands {
      lines.append(
        "complete -c richpush -n '__fish_use_subcommand' -a \(command.name) -d \(quoted(command.summary))"
      )
      let condition = "complete -c richpush -n '__fish_seen_subcommand_from \(command.name)'"
      if !command.actions.isEmpty {
        let actions = command.actions.joined(separator: " ")
        lines.append(
          "\(condition) -n 'not __fish_seen_subcommand_from \(actions)' -f -a '\(actions)'")
      }
      for option in command.options {
        let value =
          switch CompletedCommand.value(of: option) {
          case .none: ""
          case .file: " -r -F"
          case .folder: " -x -a '(__fish_complete_directories)'"
          case .word: " -x"
          }
        lines.append("\(condition) -l \(option.name)\(value) -d \(quoted(option.explanation))")
      }
      lines.append("\(condition) -l help -d 'explains the command'")
    }
    lines.append("complete -c richpush -n '__fish_seen_subcommand_from help' -f -a '\(names)'")
    return lines.joined(separator: "\n")
  }

  private static func zshText(_ text: String) -> String {
    var escaped = text
    for character in ["\\", "[", "]", ":"] {
      escaped = escaped.replacing(character, with: "\\" + character)
    }
    return escaped.replacing("'", with: #"'\''"#)
  }

  private static func quoted(_ text: String) -> String {
    "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
  }
}

/// What completion needs to know of a command.
private struct CompletedCommand {
  /// What follows a flag.
  enum Value { case none, file, folder, word }

  let name: String
  let summary: String
  let options: [Option]
  /// The words of the first operand, such as `add` and `list`.
  let actions: [String]

  init(_ command: any Command.Type) {
    (name, summary, options) = (command.name, command.summary, command.options)
    let first = command.operands.first ?? ""
    actions = first.contains("|") ? first.split(separator: "|").map(String.init) : []
  }

  static func value(of option: Option) -> Value {
    if option.kind == .flag { return .none }
    return switch option.placeholder {
    case "FILE": .file
    case "FOLDER": .folder
    default: .word
    }
  }
}
