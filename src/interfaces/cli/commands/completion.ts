/** The command `completion`: prints a shell script that completes commands and flags, generated from all commands of the program. */
import type { Command } from 'commander'
import { type Cli, write } from '../io.ts'
import { fillCommands } from '../operation-command.ts'

export async function runCompletion(
  { io }: Cli,
  _flags: object,
  [shell]: readonly string[],
  made: Command,
): Promise<void> {
  const program = made.parent as Command
  await fillCommands(program)
  await write(io.stdout, shell === 'fish' ? fishScript(program) : bashScript(program, shell === 'zsh'))
}

interface Place {
  /** Names of the commands on the way from the program to this one, each preceded by a blank. */
  readonly path: string
  readonly command: Command
}

function placesBelow(command: Command, path = ''): readonly Place[] {
  return [{ path, command }, ...command.commands.flatMap(below => placesBelow(below, `${path} ${below.name()}`))]
}

function flagsOf(command: Command): readonly string[] {
  return [...command.options.filter(({ hidden }) => !hidden).flatMap(({ long }) => long ?? []), '--help']
}

/** The completion script for bash. zsh uses it too, through its emulation of bash's completion. */
function bashScript(program: Command, isZsh: boolean): string {
  const places = placesBelow(program)
  const words = places.map(({ path, command }) => {
    return `    '${path}') words='${[...command.commands.map(below => below.name()), ...flagsOf(command)].join(' ')}' ;;`
  })
  const paths = places.flatMap(({ path }) => (path === '' ? [] : [`'${path}'`]))
  const head = isZsh ? '#compdef querent\nautoload -U +X compinit bashcompinit && compinit && bashcompinit\n' : ''
  return `${head}# Completion of querent. Once: eval "$(querent completion ${isZsh ? 'zsh' : 'bash'})"
_querent() {
  local path='' words='' word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$path $word" in
    ${paths.join('|')}) path="$path $word" ;;
    esac
  done
  case "$path" in
${words.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _querent querent
`
}

function fishScript(program: Command): string {
  const lines = placesBelow(program).flatMap(({ path, command }) => {
    const names = path.split(' ').filter(Boolean)
    const seen = names.map(name => `__fish_seen_subcommand_from ${name}`)
    const children = command.commands.map(below => below.name())
    const none = children.length === 0 ? [] : [`not __fish_seen_subcommand_from ${children.join(' ')}`]
    const at = `complete -c querent -n '${[...seen, ...none].join('; and ') || 'true'}'`
    return [
      ...command.commands.map(below => `${at} -f -a ${below.name()} -d ${quoted(below.description())}`),
      ...command.options
        .filter(({ hidden, long }) => !hidden && long !== undefined)
        .map(({ long, description }) => `${at} -l ${long?.slice(2)} -d ${quoted(description)}`),
    ]
  })
  return `# Completion of querent. Once: querent completion fish > ~/.config/fish/completions/querent.fish\n${lines.join('\n')}\n`
}

function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&').replace(/\s+/g, ' ')}'`
}
