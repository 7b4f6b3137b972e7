/** `querent c64`: results on standard output, everything about them on standard error, 1 for every failure. */
import { formatEnrichment } from '../../../engine/enrichment.ts'
import { embedC64, type OpenC64Options, openC64Engine } from '../../../engine/openings/open-c64.ts'
import { QuerentError } from '../../../model/errors.ts'
import { findOperation } from '../../../ops/catalog.ts'
import { asQuerentError, EXIT, failureText } from '../failure.ts'
import type { CommonFlags } from '../flags.ts'
import { write, writeJson } from '../io.ts'
import { withProgress } from '../progress.ts'
import type { Cli } from '../run.ts'
import { type SessionOptions, withSession } from '../session.ts'

/** As they stand on the command line. */
export interface C64Flags extends CommonFlags {
  readonly limit?: string
  readonly raw?: true
  readonly enrichOnly?: true
  readonly embed?: true
  readonly fetchLimit?: string
  readonly minScoreRatio?: string
  readonly fusion?: string
  readonly expandAddresses?: true
  readonly backend?: string
  readonly qdrantUrl?: string
  readonly qdrantCollection?: string
  readonly embeddingModel?: string
}

export interface C64Usage {
  readonly known: readonly string[]
  readonly usage: string
}

/** Sets the exit code itself: this command has one for every failure. */
export async function runC64(
  cli: Cli,
  words: readonly string[],
  flags: C64Flags,
  { known, usage }: C64Usage,
): Promise<void> {
  try {
    const stranger = words.find(word => /^--[a-z]/.test(word))
    if (stranger !== undefined) throw wrong(stranger, `one of ${known.join(', ')}`)
    const query = words.join(' ').trim()
    if (query === '') {
      await write(cli.io.stderr, usage)
      cli.exitCode = EXIT.failed
    } else {
      await answer(cli, query, flags)
    }
  } catch (thrown) {
    const error = asQuerentError(thrown)
    if (cli.errors === 'text') await write(cli.io.stderr, failureText(error))
    else await writeJson(cli.io.stderr, { error })
    cli.exitCode = EXIT.failed
  }
}

/** As much of what the operations give as is printed here. */
interface Told {
  readonly enriched_query: string
  readonly filter_tags: readonly string[]
  readonly strategy: 'hybrid' | 'filtered' | 'semantic'
  readonly search_mode?: string
  readonly formatted?: string
  readonly warnings: readonly { readonly message: string }[]
}

async function answer(cli: Cli, query: string, flags: C64Flags): Promise<void> {
  const { raw, json, enrichOnly } = flags
  const operation = enrichOnly ? 'c64.enrich' : 'c64.query'
  const input = { query, ...(raw && { raw }), ...(!enrichOnly && !json && { formatted: true }) }
  const { told, isPassing } = await withSession(cli, flags, sessionFor(flags), async session => {
    const { engine, catalog, run, context } = session
    const isPassing = (await engine.status(context)).home === null
    if (flags.embed) await withProgress(cli.io, report => embedC64(engine, report))
    return { told: (await run(findOperation(catalog, operation), input)) as Told, isPassing }
  })
  if (!enrichOnly) await write(cli.io.stderr, diagnostics(told, isPassing))
  if (json) await writeJson(cli.io.stdout, told, 2)
  else await write(cli.io.stdout, `${told.formatted ?? enrichmentText(told)}\n`)
}

function sessionFor(flags: C64Flags): SessionOptions {
  const c64 = settingsOf(flags)
  return {
    warm: !flags.enrichOnly,
    onlyLenses: ['c64'],
    open: options => openC64Engine({ ...options, c64, ...(flags.enrichOnly && { embedder: 'none' }) }),
  }
}

/** Ranges are the settings' to check. */
function settingsOf(flags: C64Flags): NonNullable<OpenC64Options['c64']> {
  const { backend, fusion, qdrantUrl, qdrantCollection, embeddingModel, expandAddresses } = flags
  const ratio = flags.minScoreRatio === undefined ? undefined : Number(flags.minScoreRatio)
  if (Number.isNaN(ratio)) throw wrong('--min-score-ratio', 'a number from 0 to 1', flags.minScoreRatio)
  return {
    limit: whole('--limit', flags.limit),
    fetchLimit: whole('--fetch-limit', flags.fetchLimit),
    minScoreRatio: ratio,
    backend: choice('--backend', backend, ['embedded', 'qdrant'] as const),
    fusion: choice('--fusion', fusion, ['tags-first', 'rrf'] as const),
    ...{ qdrantUrl, qdrantCollection, embeddingModel, expandAddresses },
  }
}

function whole(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (/^0*[1-9]\d{0,3}$/.test(text)) return Number(text)
  throw wrong(flag, 'an integer of 1 or more, up to 1000', text)
}

function choice<T extends string>(flag: string, text: string | undefined, choices: readonly T[]): T | undefined {
  const found = choices.find(one => one === text)
  if (text === undefined || found !== undefined) return found
  throw wrong(flag, `one of ${choices.join(', ')}`, text)
}

function wrong(flag: string, expected: string, value?: string): QuerentError {
  const got = value === undefined ? 'it is no flag of this command' : `got ${JSON.stringify(value)}`
  return new QuerentError('invalid_argument', `${flag}: expected ${expected}; ${got}`, { field: flag })
}

function diagnostics(
  { enriched_query, filter_tags, search_mode, strategy, warnings }: Told,
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

function enrichmentText({ enriched_query, filter_tags, strategy }: Told): string {
  return formatEnrichment({ enrichedQuery: enriched_query, filterTags: filter_tags, strategy })
}
