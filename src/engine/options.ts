/** How an engine is opened. Every option can be left out: then it is the store of the working folder, with MiniLM. */
import type { Clock } from '../base/clock.ts'
import type { Lens } from '../lenses/lens.ts'
import type { RequestLog } from '../model/request-log.ts'
import type { NodeTransport } from '../pipeline/transport.ts'
import type { Store } from '../store/store.ts'
import type { GivenEmbedder } from './embedder.ts'
import type { LimitSettings } from './limit-settings.ts'
import type { LiveSettings } from './live/live-queries.ts'

/** Plug-ins are code that runs with all rights of this process. */
export interface PluginOptions {
  /** Everything in this folder is trusted. */
  readonly trustedFolder?: string | undefined
  /** Asks whether a file may be loaded; the answer yes is remembered. Absent: what nobody trusted yet is skipped. */
  readonly trust?: ((file: string) => Promise<boolean>) | undefined
  /** Takes a line for each that was skipped; default: a warning of the process. */
  readonly warn?: ((line: string) => void) | undefined
}

export interface EngineOptions {
  /** The folder that holds `store.db` and the snapshots; absent: found upwards from the working folder, or QUERENT_HOME. */
  readonly home?: string | undefined
  /** Make the home when there is none (default true when `home` is given). */
  readonly create?: boolean | undefined
  /** A store of one's own, or `memory` for one that is gone on close. Then there is no home. */
  readonly store?: Store | 'memory' | undefined
  /** `none` for words only; a settings object for a provider; an Embedder of one's own. Default: MiniLM. */
  readonly embedder?: GivenEmbedder | 'none' | undefined
  readonly clock?: Clock | undefined
  /** Random bytes for ids; injectable so that runs can be reproduced. */
  readonly random?: ((bytes: number) => Uint8Array) | undefined
  /** How other nodes are reached; default: HTTP. Closed with the engine. */
  readonly transport?: NodeTransport | undefined
  /** Lenses beside the built-in ones. */
  readonly lenses?: readonly Lens[] | undefined
  /** Of the built-in lenses, load only these and the default one: for a process that asks one question and ends. */
  readonly onlyLenses?: readonly string[] | undefined
  /** Takes a line about this installation that its owner should see, each at most once in a home. Default: nobody. */
  readonly notice?: ((line: string) => void) | undefined
  /** Which plug-ins of the home may be loaded; default: those that were trusted before. */
  readonly plugins?: PluginOptions | undefined
  /** `normal` survives a dying process, `full` also a power cut. */
  readonly durability?: 'normal' | 'full' | undefined
  readonly readOnly?: boolean | undefined
  /** Embed and tidy up in the background (default true). */
  readonly background?: boolean | undefined
  /**
   * Begin to load the model when opening, and load the vector index while it works on the first question (default
   * false: both when they are needed). For a process that asks one question and ends.
   */
  readonly warm?: boolean | undefined
  /** Live queries: how many a viewer may have, how often to look for the commits of other processes. */
  readonly live?: LiveSettings | undefined
  /** Where requests are noted; default: nowhere. */
  readonly log?: RequestLog | undefined
  /** How much requesters from outside may ask; what is left out is as configured. */
  readonly limits?: Partial<LimitSettings> | undefined
  /** Processes that serve the same requesters (default 1): each allows its share of every limit, so that all allow the whole. */
  readonly processes?: number | undefined
  /** Milliseconds of the clock that limits and rests of other nodes go by, whole ones; injectable so that tests need not wait. */
  readonly machineTime?: (() => number) | undefined
  /** The lens that answers when none is named. */
  readonly defaultLens?: string | undefined
}
