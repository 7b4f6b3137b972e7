/** What every command of the lens beliefs does: one operation in one session, and failures told with their code. */
import { QuerentError } from '../../../model/errors.ts'
import { findOperation } from '../../../ops/catalog.ts'
import { exitCodeFor } from '../failure.ts'
import type { CommonFlags } from '../flags.ts'
import { write } from '../io.ts'
import { withProgress } from '../progress.ts'
import type { Style } from '../render/style.ts'
import { type Cli, tellAside } from '../run.ts'
import { withSession } from '../session.ts'
import type { Input } from './input.ts'
import { print } from './print.ts'

/** Those that make a store where there is none. */
const MAKES_STORE: ReadonlySet<string> = new Set(['beliefs.put'])
/** Those that embed one text. */
const EMBEDS: ReadonlySet<string> = new Set(['beliefs.query', 'beliefs.explain', 'beliefs.context_query'])

export function call(cli: Cli, flags: CommonFlags, name: string, input: Input): Promise<unknown> {
  const options = { create: MAKES_STORE.has(name), warm: EMBEDS.has(name), onlyLenses: ['beliefs'] }
  return withProgress(cli.io, report =>
    withSession(cli, flags, { ...options, report }, ({ catalog, run }) => run(findOperation(catalog, name), input)),
  )
}

/** Calls an operation and prints its answer: as a table, or with --json as it is. */
export async function show<Answer>(
  cli: Cli,
  flags: CommonFlags,
  name: string,
  input: Input,
  table: (answer: Answer, style: Style) => string,
): Promise<void> {
  // The cast: what the operation declares, of which the tables show a part.
  const answer = (await call(cli, flags, name, input)) as Answer
  await print(cli, flags, answer, { table: style => table(answer, style) })
}

/** For people, with every fault there is; for programs the whole error. Both on standard error. */
export async function reportedWithCode(cli: Cli, body: () => Promise<void>): Promise<void> {
  tellAside(cli)
  try {
    await body()
  } catch (error) {
    if (!(error instanceof QuerentError) || cli.errors !== 'text' || cli.signal.aborted) throw error
    await write(cli.io.stderr, failureText(error))
    cli.exitCode = exitCodeFor(error)
  }
}

function failureText({ code, message, details, help }: QuerentError): string {
  const faults = (details['all'] ?? []) as readonly { path: string; constraint: string }[]
  const others = faults.slice(1).map(({ path, constraint }) => `  ${path}: expected ${constraint}\n`)
  return `querent: ${code}: ${message}\n${others.join('')}  ${help}\n`
}
