/** How a command is defined: its name, its examples, and that failures are told in the form its flags ask for. */
import type { Command } from 'commander'
import type { CommonFlags } from './flags.ts'
import type { Cli } from './run.ts'

/** `name` with its arguments, as commander spells them. Each example is a command line and what it does. */
export function define(
  program: Command,
  name: string,
  description: string,
  examples: readonly (readonly [line: string, what: string])[],
): Command {
  const width = Math.max(...examples.map(([line]) => line.length))
  const lines = examples.map(([line, what]) => `  ${line.padEnd(width)}  ${what}\n`)
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
    const flags = command.opts<Flags>()
    if (flags.json === true || flags.format === 'json') cli.errors = 'json'
    // Commander calls with the declared arguments, the options, the command; the type says what was declared.
    await body(...(given.slice(0, -2) as unknown as Args), flags)
  })
}
