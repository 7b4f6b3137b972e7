/** Opens an engine with only the lens `c64`, and offers the lens's two queries for one viewer. */
import { atOnce } from '../base/turns.ts'
import type { Engine } from '../engine/engine.ts'
import { openEngineOrEmpty } from '../engine/open.ts'
import type { EngineOptions } from '../engine/options.ts'
import { askC64, type C64Answer } from '../lenses/c64/ask.ts'
import { type C64LensOptions, c64Lens } from '../lenses/c64/c64-lens.ts'
import { keepCorpus } from '../lenses/c64/corpus-store.ts'
import type { Enrichment } from '../lenses/c64/enrichment/enrich.ts'
import { formatEnrichment, formatHits } from '../lenses/c64/enrichment/hits.ts'
import { type C64Question, checkedQuestion, settingsSchema } from '../lenses/c64/settings.ts'
import { stateOf } from '../lenses/c64/state.ts'
import { builtInWith } from '../lenses/registry.ts'
import type { CallContext, Progress } from '../model/operation.ts'
import { LOCAL_OWNER } from '../model/viewer.ts'

export interface OpenC64Options extends EngineOptions {
  /** Settings of the lens, which override those of environment variables and of the home's configuration, and its plugins. */
  readonly c64?: C64LensOptions | undefined
}

/** Schema of the settings of the lens `c64`, with the names that they have in the configuration file. */
export const c64SettingsSchema: typeof settingsSchema = settingsSchema

type Context = Partial<CallContext> | undefined

/** The lens `c64` with the engine that was opened for it; closing it closes the engine. */
export class OpenC64 implements AsyncDisposable {
  readonly engine: Engine

  constructor(engine: Engine) {
    this.engine = engine
  }

  /** Explains a query without running it: what its numbers and names mean on the C64, and how it would be searched. */
  enrich(query: string): Enrichment {
    return atOnce(stateOf(this.engine.host('c64')).enrich(checkedQuestion({ query }).query))
  }

  async query(query: string, options: Omit<C64Question, 'query'> = {}, context?: Context): Promise<C64Answer> {
    const { viewer = LOCAL_OWNER, signal = new AbortController().signal } = context ?? {}
    return askC64(this.engine.host('c64'), checkedQuestion({ ...options, query }), { viewer, signal })
  }

  close(): Promise<void> {
    return this.engine.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

/**
 * Opens an engine with the lens `c64`; without options, on the store of the working folder. Where there is no store, one in memory is used,
 * which is searched by words only.
 */
export async function openC64(options: OpenC64Options = {}): Promise<OpenC64> {
  return new OpenC64(await openC64Engine(options))
}

/** Opens the engine of the lens `c64`. Where there is no store, the engine answers from memory, and `home` in its status is null. */
export function openC64Engine({ c64 = {}, ...options }: OpenC64Options): Promise<Engine> {
  // A store in memory is searched by words only, since embedding all facts for a single query would take too long.
  return openEngineOrEmpty(options, builtInWith(c64Lens(c64)))
}

/** Writes the lens's built-in facts into the store, where they are missing, and waits until they have vectors. */
export async function embedC64(engine: Engine, report?: (progress: Progress) => void): Promise<void> {
  const host = engine.host('c64')
  await keepCorpus(host.store, stateOf(host).settings.collection, host.clock.now())
  await engine.embedded(report)
}

/** Formats the result of `c64.enrich` as Markdown, exactly as the library's `formatEnrichment` does. */
export const enrichmentMarkdown: typeof formatEnrichment = formatEnrichment

/** Formats the results of a query of the lens `c64` as Markdown for an assistant. */
export function c64Markdown({
  results,
  searchMode,
  nearest,
}: Pick<C64Answer, 'results' | 'searchMode' | 'nearest'>): string {
  return formatHits(results, searchMode, nearest)
}
