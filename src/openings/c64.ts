/** The lens `c64` on its own: an engine with it, and its two questions for one viewer. */
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
  /** Settings of the lens, which beat those of the environment and of the home; and plugins. */
  readonly c64?: C64LensOptions | undefined
}

/** Settings of the lens, by the names of the configuration file. */
export const c64SettingsSchema: typeof settingsSchema = settingsSchema

type Context = Partial<CallContext> | undefined

/** Closing it closes the engine. */
export class OpenC64 implements AsyncDisposable {
  readonly engine: Engine

  constructor(engine: Engine) {
    this.engine = engine
  }

  /** What the numbers and names of a question stand for, and how it would be searched. */
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

/** Without options: the store of the working folder; where there is none, one in memory, which words alone search. */
export async function openC64(options: OpenC64Options = {}): Promise<OpenC64> {
  return new OpenC64(await openC64Engine(options))
}

/** As `openC64`; its `home` in the status is null when it answers from memory. */
export function openC64Engine({ c64 = {}, ...options }: OpenC64Options): Promise<Engine> {
  // Words alone: to embed all facts for one query would take longer than anybody waits.
  return openEngineOrEmpty(options, builtInWith(c64Lens(c64)))
}

/** Puts the facts into the store, where they are not there yet, and waits until they have vectors. */
export async function embedC64(engine: Engine, report?: (progress: Progress) => void): Promise<void> {
  const host = engine.host('c64')
  await keepCorpus(host.store, stateOf(host).settings.collection, host.clock.now())
  await engine.embedded(report)
}

/** As `formatEnrichment` of the library, of what the operation answered. */
export const enrichmentMarkdown: typeof formatEnrichment = formatEnrichment

/** Results as Markdown for an assistant. */
export function c64Markdown({
  results,
  searchMode,
  nearest,
}: Pick<C64Answer, 'results' | 'searchMode' | 'nearest'>): string {
  return formatHits(results, searchMode, nearest)
}
