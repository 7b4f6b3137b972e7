/** Prints an answer of the lens context in its envelope: the result, then errors and warnings aside. */
import type { contextOf } from '../../../engine/openings/open-context.ts'
import { EXIT } from '../failure.ts'
import { type CommonFlags, wantsJson } from '../flags.ts'
import { write, writeJson } from '../io.ts'
import * as render from '../render/context.ts'
import type { Cli } from '../run.ts'

export type Envelope = Awaited<ReturnType<ReturnType<typeof contextOf>['call']>>

/** What went wrong goes to standard error, whatever the form. */
export async function tell(
  cli: Cli,
  flags: CommonFlags,
  envelope: Envelope,
  text: (result: Readonly<Record<string, unknown>>) => string,
): Promise<void> {
  const isJson = wantsJson(flags)
  if (isJson) await writeJson(cli.io.stdout, envelope, 2)
  else if (envelope.result !== null) await write(cli.io.stdout, text(envelope.result))
  for (const line of render.errorLines(envelope.errors)) await write(cli.io.stderr, `querent: ${line}\n`)
  const warnings = envelope.meta['warnings']
  if (!isJson && Array.isArray(warnings)) {
    for (const warning of warnings) await write(cli.io.stderr, `querent: ${String(warning)}\n`)
  }
  if (envelope.status === 'error') cli.exitCode = EXIT.failed
}
