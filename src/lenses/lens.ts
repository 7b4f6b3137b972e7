/**
 * The lens contract: a named way to ask and answer. A lens declares what it needs (aspects and tables, indexes), what it
 * replaces (stages), and what it adds (operations, jobs, ingesters); the engine wires it. It reads through the pipeline,
 * writes through the store's transactional handle, and meets no concrete store and no other lens.
 */
import type { z } from 'zod'
import type { Clock, Instant } from '../base/clock.ts'
import type { Steps } from '../base/turns.ts'
import type { Embedder } from '../embed/embedder.ts'
import type { NodeIdentity } from '../identity/messages.ts'
import type { Index, LinkIndexDeclaration, PointIndexDeclaration } from '../index/contract.ts'
import type { EntryKey } from '../model/entry.ts'
import type { ChatRequest } from '../model/entry-input.ts'
import type { Ingester } from '../model/ingester.ts'
import type { LiveHandlers, LiveQueries, Subscription, WatchInput } from '../model/live.ts'
import type { CallContext, Operation, Progress } from '../model/operation.ts'
import type { Count, ExplainAnswer, ExplainRequest, PageChunk } from '../model/page.ts'
import type { Audience } from '../model/partition.ts'
import type { QueryInput } from '../model/query-input.ts'
import type { Row, TableDeclaration } from '../model/table.ts'
import type { AccessScope, Viewer } from '../model/viewer.ts'
import type { Workspace } from '../model/workspace.ts'
import type { Source } from '../pipeline/source.ts'
import type { Answer, Stages } from '../pipeline/stage.ts'
import type { NodeTransport } from '../pipeline/transport.ts'
import type { Store, StoreReader, StoreWriter } from '../store/store.ts'

/**
 * How the lens's part of a store goes into an export and comes in by an import, where its rows alone would not do: keys
 * stay in the store that made them, and followers of its own logs must hear of what came in.
 */
export interface LensTransfer {
  /** Writes down what waits, before an export of this engine. */
  flush?(host: LensHost): void
  /** A row as it is exported; `table` is any table of the store. */
  exportRow?(reader: StoreReader, table: string, row: Row): Row
  /** In the transaction of an import, before its first row. */
  beginImport?(writer: StoreWriter, context: ImportContext): LensImport
}

export interface ImportContext {
  readonly now: Instant
  random(bytes: number): Uint8Array
}

export interface LensImport {
  /** The row as it is written here. Rows of tables come in the order of the export. Throws what must not come in. */
  row(table: string, row: Row): Row
  /** When all is written. Returns what came in and is of no use here, a sentence each that says what to do about it. */
  end(): readonly string[]
}

/** A file of an export of chats. The engine opens it: a lens has no disk. */
export interface ExportFile {
  /** From the folder that is read, parts separated by `/`; the name alone where one file is read. */
  readonly path: string
  /** Its bytes from the beginning, in pieces. May be asked for again. */
  bytes(): AsyncIterable<Uint8Array> | Iterable<Uint8Array>
}

export interface ChatOptions extends ChatRequest {
  /** For records of JSONL: our field to theirs. */
  readonly map?: Readonly<Record<string, string>> | undefined
}

/** Null: never given. A message that is there keeps what it has unless it is `given` now. */
export interface ChatSettings {
  readonly given: {
    readonly collection?: string | undefined
    readonly tags?: readonly string[] | undefined
    readonly audience?: Audience | undefined
  }
  readonly collection: string | null
  readonly tags: readonly string[] | null
  readonly audience: Audience | null
  readonly holder: string
  readonly now: Instant
  /** Called for each message that others may see now than before. */
  readonly moved: (from: Audience, to: Audience) => void
}

/** How reports name paths. `shown`: of one file, as the requester would write it; `whole`: of all of them. */
export interface ChatNames {
  readonly shown: (path: string) => string
  readonly whole: string
}

export interface ChatReport {
  /** Numbers count messages. */
  readonly added: number
  readonly updated: number
  readonly unchanged: number
  readonly deleted: number
  /** Of messages added or updated. */
  readonly chunks: number
  /** What was left out on purpose, by what it is, and how many there were. */
  readonly skipped: readonly { readonly path: string; readonly reason: string; readonly count: number }[]
  /** What could not be read, by line. */
  readonly errors: readonly { readonly path: string; readonly message: string }[]
}

/** Writes the messages of an export into the store. Rejects for the request, never for what a file holds. */
export type ImportChat = (
  store: Store,
  files: readonly ExportFile[],
  options: ChatOptions,
  settings: ChatSettings,
  names: ChatNames,
  call: Pick<CallContext, 'signal' | 'report'>,
) => Promise<ChatReport>

/** A Qdrant server by the settings of a lens. */
export interface ServerSettings {
  readonly url: string
  /** Whether viewers other than the owner may ask it. */
  readonly public: boolean
  /** Variable of the environment that holds the key. */
  readonly keyVariable: string
}

/** A server with OpenAI's interface, which embeds. */
export interface ModelSettings {
  readonly model: string
  /** Absent: OpenAI's own. */
  readonly url: string | undefined
  /** Variable of the environment that holds the key; absent: no key is sent. */
  readonly keyVariable: string | undefined
}

/** What the doctor reports of a lens's tables. */
export interface TableProblem {
  readonly message: string
  /** What to do about it; null: the data are damaged. */
  readonly help: string | null
  /** Nothing is wrong with the store: it is only to be known. */
  readonly isNote?: boolean | undefined
}

/** What the engine lends a lens's operations, jobs and ingesters. */
export interface LensHost {
  readonly store: Store
  readonly clock: Clock
  readonly embedder: Embedder | null
  /** The lens's settings, checked by its schema. */
  readonly settings: unknown
  /** Fresh random bytes; injectable, so that ids can be reproduced. */
  random(bytes: number): Uint8Array
  accessScope(viewer: Viewer): AccessScope
  /** Resolves when all that was written has its vectors; at once where there is no embedder. Rejects when that fails. */
  embedded?(signal: AbortSignal, report?: (progress: Progress) => void): Promise<void>
  /**
   * Runs the body while no other one of that name of this lens runs on the store, in this process or any other; waits until
   * that is so. Rejects with `cancelled` when the signal is aborted while it waits. Absent where nobody else has the store.
   */
  exclusive?<T>(name: string, options: ExclusiveOptions, body: (turn: Turn) => Promise<T>): Promise<T>
  /** The folder that the store belongs to; absent for a store without one. */
  readonly workspace?: Workspace | undefined
  /** An index by name, brought up to date with the store: in one piece, unless `ready` did it. */
  index(name: string): Index
  /**
   * Loads these indexes and brings all that are loaded up to date, with pauses for others (QE-019). Rejects with `cancelled`. Absent where
   * indexes are small.
   */
  ready?(names: readonly string[], signal?: AbortSignal): Promise<void>
  /** A source by the name that it is configured under. Rejects with `invalid_argument`, naming those there are. */
  source(name: string): Promise<Source>
  /**
   * Opens a server or a model that the lens's settings name; the lens closes it. Rejects with `provider_failed` for a server that
   * does not answer. Absent: this engine reaches none.
   */
  readonly remote?: Remotes | undefined
  /** Live queries of this engine. */
  readonly live?: LiveQueries | undefined
  /** This node, as others meet it, and how it reaches them. */
  readonly node?: NodeIdentity | undefined
  readonly transport?: NodeTransport | undefined
  /** Whether this process stays, and works in the background: then it pays to listen to others. */
  readonly isLasting?: boolean | undefined
  /** A store in memory with indexes of its own, for what is put together for one answer and forgotten after it. */
  scratch?(): Scratch
  /**
   * Asks through the pipeline with this lens's stages (or another lens's, named in the input). With the page come its items'
   * entries as they were then: what is read later must be checked for access again.
   */
  query(input: QueryInput, call: Pick<CallContext, 'viewer' | 'signal' | 'now' | 'rows'>): Promise<Answer>
  explain(request: ExplainRequest, call: CallContext): Promise<ExplainAnswer>
  count(input: QueryInput, call: CallContext): Promise<Count>
  stream(input: QueryInput, call: CallContext): AsyncIterable<PageChunk>
  subscribe(input: WatchInput, handlers: LiveHandlers, call: CallContext): Promise<Subscription>
}

export interface Remotes {
  openServer(name: string, settings: ServerSettings): Promise<Source>
  openModel(settings: ModelSettings): Promise<Embedder>
}

export interface ExclusiveOptions {
  readonly signal: AbortSignal
  /** Called once when another one is at work. */
  readonly onWait?: (() => void) | undefined
}

/** What the only one at work is given. */
export interface Turn {
  /** Aborted with the caller's own, when the engine closes, and when another process has taken over. */
  readonly signal: AbortSignal
  readonly requireHeld: Condition
}

export interface Scratch {
  readonly store: Store
  /** Brought up to date with that store. */
  index(name: string): Index
}

/** Code that a lens has read by itself: absolute paths. */
export interface CodePaths {
  readonly paths: readonly string[]
  /** What was read of it is deleted, and it is followed no more. */
  readonly forget: boolean
}

/**
 * Work done in the background by one process at a time, under a lease that is renewed while it runs; its signal is
 * aborted when the lease is lost, and when the engine closes. What it reports, and why it failed last, the doctor shows.
 */
export interface Job {
  readonly name: string
  readonly everyMs: number
  run(
    host: LensHost,
    now: Instant,
    signal: AbortSignal,
    report: (progress: Progress) => void,
    requireHeld: Condition,
  ): Promise<void>
}

/**
 * To be called first in each transaction of a job or a turn: throws `cancelled` when the lease is another process's now. A process
 * that was stopped for a while hears of that through the signal only after it has written once more.
 */
export type Condition = (reader: StoreReader) => void

export interface LensRepair {
  /** As the doctor's finding is called. */
  readonly check: string
  /** What the doctor says when nothing is missing. */
  readonly sound: string
  /** What is missing, a line each; none: nothing is. Reads only, in steps. */
  find(reader: StoreReader): Steps<readonly string[]>
  /** Makes it again; says what it did. Rejects with a `QuerentError` for what cannot be made. */
  repair(host: LensHost, signal: AbortSignal): Promise<string>
}

/** What every store must know of a lens, whether or not its code is loaded. Data alone. */
export interface LensDeclaration {
  /** Lower case; `--lens <name>`, and the first part of its operations' names. */
  readonly name: string
  /** Aspects and own tables. Names begin with the lens's name. */
  readonly tables?: readonly TableDeclaration[] | undefined
  /**
   * Kinds of entries that it ranks in its own way: queries of the default lens that only such can answer, by their
   * conditions, are delegated to it.
   */
  readonly kinds?: readonly string[] | undefined
  /** First parts of its operations' names beside its own name: things that it brings and others may come to use. */
  readonly families?: readonly string[] | undefined
}

export interface Lens extends LensDeclaration {
  /** One line. */
  readonly summary: string
  /** Indexes beside `words` and `vectors`; made once an engine, refreshed from the feed with the others. */
  readonly indexes?: readonly (() => Index)[] | undefined
  /** Point indexes over tables of its own: declared only, since the engine has the code. */
  readonly pointIndexes?: readonly PointIndexDeclaration[] | undefined
  /** Graphs over tables of its own, declared in the same way. */
  readonly linkIndexes?: readonly LinkIndexDeclaration[] | undefined
  /** False: its stages read no words, so that a query whose items nobody reads does not load their index. Default true. */
  readonly readsWords?: boolean | undefined
  /** True: its stages compare by `context.vectors` alone, so that texts and queries in other languages may have a second model's vectors. */
  readonly knowsLanguages?: boolean | undefined
  /** `plain`: the default first stage reads no operators for this lens, whatever the query says. */
  readonly syntax?: 'plain' | undefined
  /** What `options` of a query may hold for this lens. Absent: the lens has none. */
  readonly options?: z.ZodType | undefined
  /**
   * Called before each query of the lens, so that the store holds what answers need. Returns a store to ask in place of the
   * engine's, for a viewer whose query must not write; null: the engine's. May throw, then nothing is asked.
   */
  prepare?(host: LensHost, call: Pick<CallContext, 'viewer' | 'signal'>): Promise<Scratch | null>
  /** The stages it replaces; the others are the default ones. As a function: made once an engine, on its host. */
  readonly stages?: Partial<Stages> | ((host: LensHost) => Partial<Stages>) | undefined
  readonly operations?: readonly Operation<LensHost>[] | undefined
  readonly jobs?: readonly Job[] | undefined
  /** Reads again what changed below paths that it has read by itself (`INDEXED_TREES`), or forgets it, as the owner. Gives how many files it holds no more; rejects where it cannot. */
  readonly readCode?: ((host: LensHost, request: CodePaths, signal: AbortSignal) => Promise<number>) | undefined
  /** Asked before the built-in ones when files are added. */
  readonly ingesters?: readonly Ingester[] | undefined
  /** Reads what is added as an export of chats (`AddRequest.chat`). At most one lens has it. */
  readonly importChat?: ImportChat | undefined
  /**
   * Called in the transaction that puts or deletes entries by the engine's own operations, before they are written; some of them
   * may have no aspect of this lens. What it returns is called when they are written: what other entries repeat of them is
   * corrected there.
   */
  beforeWrite?(writer: StoreWriter, entries: readonly EntryKey[]): () => void
  /**
   * Counts the use of the entries that a question through the stages has shown. Absent: the store's access state does.
   * Not called for questions that do not touch. `options`: of the query, as the lens's schema returns them. May throw what a busy or read-only store throws: then it is not counted.
   */
  touch?(host: LensHost, viewer: Viewer, entries: readonly EntryKey[], now: Instant, options: unknown): void
  /**
   * Takes what a trusted plug-in exports, before `open`; throws what is wrong with it. False: it is none of this lens's.
   * A module that any lens took is welcome, whatever the others make of it. `file`: the module's.
   */
  install?(host: LensHost, exported: Readonly<Record<string, unknown>>, file: string): boolean
  /** What a module must export to be taken by `install`, for messages. */
  readonly takes?: string | undefined
  /** Called when the engine opens, before anything is asked. What it throws ends the opening. */
  open?(host: LensHost): void | Promise<void>
  /** Called when the engine closes, before the store does: what was held back is written now. */
  close?(host: LensHost): void | Promise<void>
  /** For the doctor: what is wrong with the lens's own tables. Reads only, in steps: of one state of the store. */
  check?(reader: StoreReader): Steps<readonly TableProblem[]>
  /** For the doctor: what may be missing of the lens's own and can be made again from what is there. */
  readonly repairs?: readonly LensRepair[] | undefined
  readonly transfer?: LensTransfer | undefined
  /**
   * Checks and completes the lens's part of the configuration; throws `invalid_argument`, or an error of its own.
   * `environment`: the variables that begin with the lens's name in capitals and `_`, and those of `variables`; they beat the
   * configuration.
   */
  settings?(given: unknown, environment: Readonly<Record<string, string>>): unknown
  /** Further variables of the environment that its settings read. */
  readonly variables?: readonly string[] | undefined
}
