/** `querent c64`: results on standard output, everything about them on standard error, 1 for every failure. */
import type { Command } from 'commander'
import { formatEnrichment } from '../../../engine/enrichment.ts'
import { embedC64, type OpenC64Options, openC64Engine } from '../../../engine/openings/open-c64.ts'
import { QuerentError } from '../../../model/errors.ts'
import { findOperation } from '../../../ops/catalog.ts'
import { asQuerentError, EXIT, failureText } from '../failure.ts'
import type { CommonFlags } from '../flags.ts'
import { write, writeJson } from '../io.ts'
import { withProgress } from '../progress.ts'
import { type Cli, errorsAside } from '../run.ts'
import { type SessionOptions, withSession } from '../session.ts'

/** As they stand on the command line. */
type C64Flags = CommonFlags & Readonly<Record<string, string | true | undefined>>

/** Sets the exit code itself: this command has one for every failure. */
export async function runC64(cli: Cli, words: readonly string[], flags: C64Flags, made: Command): Promise<void> {
  errorsAside(cli)
  try {
    const query = words.join(' ').trim()
    if (query !== '') return await answer(cli, query, flags)
    await write(cli.io.stderr, made.helpInformation())
  } catch (thrown) {
    const error = asQuerentError(thrown)
    if (cli.errors === 'text') await write(cli.io.stderr, failureText(error))
    else await writeJson(cli.io.stderr, { error })
  }
  cli.exitCode = EXIT.failed
}

/** As much of what the operations give as is printed here. */
interface C64Answer {
  readonly enriched_query: string
  readonly filter_tags: readonly string[]
  readonly strategy: 'hybrid' | 'filtered' | 'semantic'
  readonly search_mode?: string
  readonly formatted?: string
  readonly warnings: readonly { readonly message: string }[]
}

async function answer(cli: Cli, query: string, flags: C64Flags): Promise<void> {
  const { raw, json, enrichOnly } = flags as Readonly<Record<string, true | undefined>>
  const operation = enrichOnly ? 'c64.enrich' : 'c64.query'
  const input = { query, ...(raw && { raw }), ...(!enrichOnly && !json && { formatted: true }) }
  const { found, isPassing } = await withSession(cli, flags, sessionFor(flags), async session => {
    const { engine, catalog, run, context } = session
    const isPassing = (await engine.status(context)).home === null
    if (flags['embed']) await withProgress(cli.io, report => embedC64(engine, report))
    return { found: (await run(findOperation(catalog, operation), input)) as C64Answer, isPassing }
  })
  if (!enrichOnly) await write(cli.io.stderr, diagnostics(found, isPassing))
  if (json) await writeJson(cli.io.stdout, found, 2)
  else await write(cli.io.stdout, `${found.formatted ?? enrichmentText(found)}\n`)
}

function sessionFor(flags: C64Flags): SessionOptions {
  const c64 = settingsOf(flags)
  return {
    warm: !flags['enrichOnly'],
    onlyLenses: ['c64'],
    open: options => openC64Engine({ ...options, c64, ...(flags['enrichOnly'] && { embedder: 'none' }) }),
  }
}

/** Ranges are the settings' to check. */
function settingsOf({ backend, fusion, minScoreRatio, limit, fetchLimit, ...flags }: C64Flags): OpenC64Options['c64'] {
  const { qdrantUrl, qdrantCollection, embeddingModel, expandAddresses } = flags
  return {
    limit: number('--limit', limit, /^0*[1-9]\d{0,3}$/, 'an integer of 1 or more, up to 1000'),
    fetchLimit: number('--fetch-limit', fetchLimit, /^0*[1-9]\d{0,3}$/, 'an integer of 1 or more, up to 1000'),
    minScoreRatio: number('--min-score-ratio', minScoreRatio, /^[\d.]+$/, 'a number from 0 to 1'),
    backend: choice('--backend', backend, ['embedded', 'qdrant'] as const),
    fusion: choice('--fusion', fusion, ['tags-first', 'rrf'] as const),
    ...({ qdrantUrl, qdrantCollection, embeddingModel, expandAddresses } as object),
  }
}

type Given = string | true | undefined

function number(flag: string, text: Given, form: RegExp, expected: string): number | undefined {
  if (text === undefined) return undefined
  if (form.test(String(text)) && Number.isFinite(Number(text))) return Number(text)
  throw wrong(flag, expected, text)
}

function choice<T extends string>(flag: string, text: Given, choices: readonly T[]): T | undefined {
  const found = choices.find(one => one === text)
  if (text === undefined || found !== undefined) return found
  throw wrong(flag, `one of ${choices.join(', ')}`, text)
}

function wrong(flag: string, expected: string, value?: Given): QuerentError {
  const got = value === undefined ? 'it is no flag of this command' : `got ${JSON.stringify(value)}`
  return new QuerentError('invalid_argument', `${flag}: expected ${expected}; ${got}`, { field: flag })
}

function diagnostics(
  { enriched_query, filter_tags, search_mode, strategy, warnings }: C64Answer,
  isPassing: boolean,
): string {
  const notes = isPassing ? ['there is no store here: answered from memory, by words; `querent init` makes one'] : []
  const lines = [
    `Enriched query: ${enriched_query.replaceAll('\n', ' ')}`,
    `Tags: ${filter_tags.join(', ') || 'none'}`,
    `Mode: ${search_mode ?? strategy}`,
    ...[...notes, ...warnings.map(({ message }) => message)].map(message => `Warning: ${message}`),
  ]
  return lines.map(line => `${line}\n`).join('')
}

function enrichmentText({ enriched_query, filter_tags, strategy }: C64Answer): string {
  return formatEnrichment({ enrichedQuery: enriched_query, filterTags: filter_tags, strategy })
}
