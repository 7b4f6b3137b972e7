/**
 * The lens contract: a lens is a named way to query and rank. It declares what it needs (aspects and tables, indexes), what it replaces
 * (stages), and what it adds (operations, jobs, ingesters); the engine connects these. It reads through the pipeline, writes through the
 * store's transactional handle, and uses no concrete store and no other lens.
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
 * How a lens's part of a store is exported and imported where copying rows does not suffice: entry keys differ between stores, and
 * processes that follow the lens's own logs must learn of imported rows.
 */
export interface LensTransfer {
  /** Writes queued data before an export of this engine. */
  flush?(host: LensHost): void
  /** The row in its exported form; `table` is any table of the store. */
  exportRow?(reader: StoreReader, table: string, row: Row): Row
  /** Called in the transaction of an import, before its first row. */
  beginImport?(writer: StoreWriter, context: ImportContext): LensImport
}

export interface ImportContext {
  readonly now: Instant
  random(bytes: number): Uint8Array
}

export interface LensImport {
  /**
   * The row in the form in which it is written to this store. Rows of tables come in the order of the export. Throws for a row that must
   * not be imported.
   */
  row(table: string, row: Row): Row
  /** Called when all rows are written. Returns one sentence for each imported thing that is of no use here, saying what to do about it. */
  end(): readonly string[]
}

/** A file of an export of chats, opened by the engine, since a lens has no access to the disk. */
export interface ExportFile {
  /** Path relative to the folder that is read, with parts separated by `/`; the file name alone where one file is read. */
  readonly path: string
  /** The file's bytes from the beginning, in pieces. May be called again. */
  bytes(): AsyncIterable<Uint8Array> | Iterable<Uint8Array>
}

export interface ChatOptions extends ChatRequest {
  /** For JSONL records: the record's field for each message field. */
  readonly map?: Readonly<Record<string, string>> | undefined
}

/** Settings for imported messages; null: none given, ever. An existing message keeps its values unless one is in `given`. */
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
  /** Called for each message whose audience changed. */
  readonly moved: (from: Audience, to: Audience) => void
}

/** How reports name paths. `shown`: one file, as the requester would write it; `whole`: the export as a whole. */
export interface ChatNames {
  readonly shown: (path: string) => string
  readonly whole: string
}

export interface ChatReport {
  /** Number of messages added; the other counts are of messages too. */
  readonly added: number
  readonly updated: number
  readonly unchanged: number
  readonly deleted: number
  /** Number of chunks of added and updated messages. */
  readonly chunks: number
  /** What was left out on purpose, by kind, with the number of each. */
  readonly skipped: readonly { readonly path: string; readonly reason: string; readonly count: number }[]
  /** What could not be read, with its line. */
  readonly errors: readonly { readonly path: string; readonly message: string }[]
}

/** Writes the messages of an export into the store. Rejects for a faulty request, never for the content of a file. */
export type ImportChat = (
  store: Store,
  files: readonly ExportFile[],
  options: ChatOptions,
  settings: ChatSettings,
  names: ChatNames,
  call: Pick<CallContext, 'signal' | 'report'>,
) => Promise<ChatReport>

/** Settings of a lens that describe a Qdrant server. */
export interface ServerSettings {
  readonly url: string
  /** Whether viewers other than the owner may query the server. */
  readonly public: boolean
  /** Environment variable that holds the server's key. */
  readonly keyVariable: string
}

/** Settings of a server that embeds, through OpenAI's interface. */
export interface ModelSettings {
  readonly model: string
  /** URL of the server; absent: OpenAI's own. */
  readonly url: string | undefined
  /** Environment variable that holds the key; absent: no key is sent. */
  readonly keyVariable: string | undefined
}

/** A problem in a lens's tables, as the doctor reports it. */
export interface TableProblem {
  readonly message: string
  /** What to do about the problem; null: the data are damaged. */
  readonly help: string | null
  /** True for information only: nothing is wrong with the store. */
  readonly isNote?: boolean | undefined
}

/** What the engine provides to a lens's operations, jobs and ingesters. */
export interface LensHost {
  readonly store: Store
  readonly clock: Clock
  readonly embedder: Embedder | null
  /** The lens's settings, checked by its schema. */
  readonly settings: unknown
  /** Fresh random bytes; injectable, so that ids can be reproduced. */
  random(bytes: number): Uint8Array
  accessScope(viewer: Viewer): AccessScope
  /** Resolves when everything written so far has its vectors; at once where there is no embedder. Rejects when embedding fails. */
  embedded?(signal: AbortSignal, report?: (progress: Progress) => void): Promise<void>
  /**
   * Runs the body when no other body of that name of this lens runs on the store, in this process or another; waits until then. Rejects
   * with `cancelled` when the signal is aborted during the wait. Absent where no other process can use the store.
   */
  exclusive?<T>(name: string, options: ExclusiveOptions, body: (turn: Turn) => Promise<T>): Promise<T>
  /** The folder that the store belongs to; absent for a store without one. */
  readonly workspace?: Workspace | undefined
  /** An index by name, brought up to date with the store: in one piece, unless `ready` has done so. */
  index(name: string): Index
  /**
   * Loads these indexes and brings all loaded ones up to date, with pauses for other work (QE-019). Rejects with `cancelled`. Absent where
   * indexes are small.
   */
  ready?(names: readonly string[], signal?: AbortSignal): Promise<void>
  /** A source by its configured name. Rejects with `invalid_argument`, listing the configured names. */
  source(name: string): Promise<Source>
  /**
   * Opens a server or a model that the lens's settings name; the lens must close it. Rejects with `provider_failed` for a server that does
   * not answer. Absent: this engine can reach none.
   */
  readonly remote?: Remotes | undefined
  /** Live queries of this engine. */
  readonly live?: LiveQueries | undefined
  /** This node's identity for other nodes, and how it reaches them. */
  readonly node?: NodeIdentity | undefined
  readonly transport?: NodeTransport | undefined
  /** Whether this process keeps running and works in the background; only then it subscribes to other nodes. */
  readonly isLasting?: boolean | undefined
  /** A store in memory with its own indexes, for data that is assembled for one answer and then dropped. */
  scratch?(): Scratch
  /**
   * Runs a query through the pipeline with this lens's stages (or another lens's, named in the input). The answer includes the items'
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
  /** Called once when the caller must wait for another one. */
  readonly onWait?: (() => void) | undefined
}

/** Passed to the body of `exclusive` while it is the only one running. */
export interface Turn {
  /** Aborted when the caller's signal is, when the engine closes, and when another process has taken over. */
  readonly signal: AbortSignal
  readonly requireHeld: Condition
}

export interface Scratch {
  readonly store: Store
  /** An index of the scratch store, brought up to date with that store. */
  index(name: string): Index
}

/** Paths of code that a lens has indexed by itself; absolute paths. */
export interface CodePaths {
  readonly paths: readonly string[]
  /** Whether everything read below these paths is deleted and no longer followed. */
  readonly forget: boolean
}

/**
 * Background work, done by one process at a time under a lease that is renewed while it runs; its signal is aborted when the lease is lost,
 * and when the engine closes. The doctor shows what it reports, and why it last failed.
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
 * Must be called first in each transaction of a job or a turn: throws `cancelled` when another process now has the lease. A suspended
 * process learns this through the signal only after it has written once more.
 */
export type Condition = (reader: StoreReader) => void

export interface LensRepair {
  /** Name of the doctor's finding. */
  readonly check: string
  /** Message of the doctor when nothing is missing. */
  readonly sound: string
  /** What is missing, one line for each; empty when nothing is. Only reads, in steps. */
  find(reader: StoreReader): Steps<readonly string[]>
  /** Makes the missing data again and returns what was done. Rejects with a `QuerentError` for what cannot be made. */
  repair(host: LensHost, signal: AbortSignal): Promise<string>
}

/** The part of a lens that every store must know, whether or not the lens's code is loaded. Data only. */
export interface LensDeclaration {
  /** Name of the lens in lower case: used as `--lens <name>`, and as the first part of its operations' names. */
  readonly name: string
  /** The lens's aspects and own tables. Their names begin with the lens's name. */
  readonly tables?: readonly TableDeclaration[] | undefined
  /**
   * Kinds of entries that the lens ranks in its own way: a query of the default lens whose conditions allow only such entries is delegated
   * to it.
   */
  readonly kinds?: readonly string[] | undefined
  /** First parts of its operations' names, besides its own name: for features of the lens that other lenses may use too. */
  readonly families?: readonly string[] | undefined
}

export interface Lens extends LensDeclaration {
  /** Summary of the lens in one line. */
  readonly summary: string
  /** Indexes in addition to `words` and `vectors`; made once per engine, and updated from the change feed with the others. */
  readonly indexes?: readonly (() => Index)[] | undefined
  /** Point indexes over the lens's own tables: only declared, since the engine has the code. */
  readonly pointIndexes?: readonly PointIndexDeclaration[] | undefined
  /** Graphs over the lens's own tables, declared in the same way as point indexes. */
  readonly linkIndexes?: readonly LinkIndexDeclaration[] | undefined
  /**
   * When false, the lens's stages do not search words, so that a query whose items are not read does not load the word index. Default true.
   */
  readonly readsWords?: boolean | undefined
  /**
   * When true, the lens's stages compare only by `context.vectors`, so that texts and queries in other languages may have vectors of a
   * second model.
   */
  readonly knowsLanguages?: boolean | undefined
  /** `plain`: the default parse stage reads no operators for this lens, whatever the query's own syntax is. */
  readonly syntax?: 'plain' | undefined
  /** Schema of what `options` of a query may contain for this lens. Absent: the lens has none. */
  readonly options?: z.ZodType | undefined
  /**
   * Called before each query of the lens, so that the store contains what answers need. Returns a store to query instead of the engine's,
   * for a viewer whose query must not write; null: the engine's. May throw, which ends the query.
   */
  prepare?(host: LensHost, call: Pick<CallContext, 'viewer' | 'signal'>): Promise<Scratch | null>
  /** The stages that the lens replaces; the others are the default ones. A function is called once per engine, with its host. */
  readonly stages?: Partial<Stages> | ((host: LensHost) => Partial<Stages>) | undefined
  readonly operations?: readonly Operation<LensHost>[] | undefined
  readonly jobs?: readonly Job[] | undefined
  /**
   * For paths that the lens has indexed by itself (`INDEXED_TREES`): reads changes below them again, or deletes what was read, as the
   * owner. Returns the number of files removed; rejects where that fails.
   */
  readonly readCode?: ((host: LensHost, request: CodePaths, signal: AbortSignal) => Promise<number>) | undefined
  /** Ingesters that are tried before the built-in ones when files are added. */
  readonly ingesters?: readonly Ingester[] | undefined
  /** Imports what is added as an export of chats (`AddRequest.chat`). At most one lens has it. */
  readonly importChat?: ImportChat | undefined
  /**
   * Called in the transaction in which the engine's own operations put or delete entries, before they are written; some entries may have no
   * aspect of this lens. The returned function is called after they are written: it corrects copies of their data in other entries.
   */
  beforeWrite?(writer: StoreWriter, entries: readonly EntryKey[]): () => void
  /**
   * Counts as used the entries that a query through the stages has shown. Absent: the store's access state counts them. Not called for
   * queries that do not touch. `options`: of the query, as parsed by the lens's schema. May throw errors of a busy or read-only store: then
   * the use is not counted.
   */
  touch?(host: LensHost, viewer: Viewer, entries: readonly EntryKey[], now: Instant, options: unknown): void
  /**
   * Takes the exports of a trusted plug-in, before `open`; throws when they are faulty. False: they do not belong to this lens. A module
   * that any lens took is accepted, even if other lenses refuse it. `file`: path of the module.
   */
  install?(host: LensHost, exported: Readonly<Record<string, unknown>>, file: string): boolean
  /** Describes, for messages, what a module must export to be taken by `install`. */
  readonly takes?: string | undefined
  /** Called when the engine opens, before any query. An error that it throws ends the opening. */
  open?(host: LensHost): void | Promise<void>
  /** Called when the engine closes, before the store does: queued data is written now. */
  close?(host: LensHost): void | Promise<void>
  /** For the doctor: problems in the lens's own tables. Only reads, in steps, from one state of the store. */
  check?(reader: StoreReader): Steps<readonly TableProblem[]>
  /** For the doctor: data of the lens that may be missing and can be made again from the store. */
  readonly repairs?: readonly LensRepair[] | undefined
  readonly transfer?: LensTransfer | undefined
  /**
   * Checks and completes the lens's part of the configuration; throws `invalid_argument`, or an error of its own. `environment`: the
   * variables that begin with the lens's name in capitals and `_`, and those of `variables`; they override the configuration.
   */
  settings?(given: unknown, environment: Readonly<Record<string, string>>): unknown
  /** Further environment variables that the lens's settings read. */
  readonly variables?: readonly string[] | undefined
}
