/** How a command is defined: its name, its examples, and that failures are reported in the form its flags ask for. */
import type { Command } from 'commander'
import { EXIT } from './failure.ts'
import { type CommonFlags, wantsJson } from './flags.ts'
import type { Cli } from './run.ts'

/** Command lines; behind `  # ` what they do. */
export type Examples = readonly string[]

/** `name` with its arguments, as commander spells them. */
export function define(program: Command, name: string, description: string, examples: Examples): Command {
  const pairs = examples.map(example => example.split('  # ') as [line: string, what: string])
  const width = Math.max(...pairs.map(([line]) => line.length))
  const lines = pairs.map(([line, what]) => `  ${line.padEnd(width)}  ${what}\n`)
  return program
    .command(name)
    .description(description)
    .addHelpText('after', `\nExamples:\n${lines.join('')}`)
}

/** Sets what the command does. `body` gets the flags last, as commander gives them. */
export function runs<Args extends readonly unknown[], Flags extends CommonFlags>(
  command: Command,
  cli: Cli,
  body: (...args: [...Args, Flags]) => Promise<void>,
): void {
  command.action(async (...given: readonly unknown[]) => {
    const flags = flagsOf<Flags>(command)
    if (wantsJson(flags)) cli.errors = 'json'
    // Commander calls with the declared arguments, the options, the command; the type says what was declared.
    await body(...(given.slice(0, -2) as unknown as Args), flags)
  })
}

/** The command's options, and what was given before it or before its group, as far as the command has it too. Its own count more. */
export function flagsOf<Flags>(command: Command): Flags {
  const { parent } = command
  if (parent === null) return command.opts() as Flags
  const given = flagsOf<Record<string, unknown>>(parent)
  const own = new Set(command.options.map(option => option.attributeName()))
  const isGroup = command.commands.length > 0
  const unknown = parent.options.find(option => {
    const name = option.attributeName()
    return !own.has(name) && !isGroup && parent.getOptionValueSource(name) === 'cli'
  })
  if (unknown !== undefined) command.error(`error: unknown option '${unknown.long ?? ''}' of ${command.name()}`)
  const handed = Object.entries(given).filter(([name]) => isGroup || own.has(name))
  return { ...Object.fromEntries(handed), ...command.opts() } as Flags
}

/** For commands whose contract has one exit code for every failure, also for a wrong command line. */
export function withOneExitCode(command: Command, cli: Cli): Command {
  return command.exitOverride(error => {
    cli.usageExitCode = EXIT.failed
    throw error
  })
}
