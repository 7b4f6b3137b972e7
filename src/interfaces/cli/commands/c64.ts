/** The command `querent c64`: prints results on standard output and all messages on standard error; every failure has exit code 1. */
import type { Command } from 'commander'
import type { JsonObject } from '../../../base/canonical.ts'
import { embedC64, enrichmentMarkdown, type OpenC64Options, openC64Engine } from '../../../openings/c64.ts'
import { findOperation } from '../../../ops/catalog.ts'
import { type Cli, EXIT, write, writeJson } from '../io.ts'
import type { Flags } from '../operation-command.ts'
import { withProgress } from '../progress.ts'
import { withSession } from '../session.ts'

/** Runs `querent c64`. `settings`: those of the lens `c64`. */
export async function runC64(
  cli: Cli,
  query: string,
  settings: JsonObject,
  flags: Flags,
  made: Command,
): Promise<void> {
  if (query !== '') return answer(cli, query, settings, flags)
  await write(cli.io.stderr, made.helpInformation())
  cli.exitCode = EXIT.failed
}

/** The fields of the operation's answer that `querent c64` prints. */
interface C64Answer {
  readonly enriched_query: string
  readonly filter_tags: readonly string[]
  readonly strategy: 'hybrid' | 'filtered' | 'semantic'
  readonly search_mode?: string
  readonly formatted?: string
  readonly warnings: readonly { readonly message: string }[]
}

async function answer(cli: Cli, query: string, settings: JsonObject, flags: Flags): Promise<void> {
  const { raw, json, enrichOnly, embed } = flags as Readonly<Record<string, true | undefined>>
  const input = { query, ...(raw && { raw }), ...(!enrichOnly && !json && { formatted: true }) }
  const named = Object.entries(settings).map(([name, value]) => [
    name.replace(/_./g, at => at.slice(1).toUpperCase()),
    value,
  ])
  const c64: OpenC64Options['c64'] = Object.fromEntries(named)
  const session = {
    warm: !enrichOnly,
    onlyLenses: ['c64'],
    open: (options: OpenC64Options) => openC64Engine({ ...options, c64, ...(enrichOnly && { embedder: 'none' }) }),
  }
  const { found, isPassing } = await withSession(cli, flags, session, async ({ engine, catalog, run, context }) => {
    const isPassing = (await engine.status(context)).home === null
    if (embed) await withProgress(cli.io, report => embedC64(engine, report))
    const operation = findOperation(catalog, enrichOnly ? 'c64.enrich' : 'c64.query')
    return { found: (await run(operation, input)) as C64Answer, isPassing }
  })
  const { enriched_query, filter_tags, search_mode, strategy, warnings, formatted } = found
  const none = isPassing
    ? ['there is no store here: answered by words, from facts in memory; `querent init` creates a store']
    : []
  const about = [
    `Enriched query: ${enriched_query.replaceAll('\n', ' ')}`,
    `Tags: ${filter_tags.join(', ') || 'none'}`,
    `Mode: ${search_mode ?? strategy}`,
    ...[...none, ...warnings.map(({ message }) => message)].map(message => `Warning: ${message}`),
  ]
  if (!enrichOnly) await write(cli.io.stderr, about.map(line => `${line}\n`).join(''))
  if (json) return writeJson(cli.io.stdout, found, 2)
  const text = formatted ?? enrichmentMarkdown({ enrichedQuery: enriched_query, filterTags: filter_tags, strategy })
  await write(cli.io.stdout, `${text}\n`)
}
