/**
 * A lens is a named way to query and rank. A lens declares its needs (aspects, tables, indexes), the stages of the query that it replaces,
 * and what it adds (operations, jobs, ingesters); the engine connects all parts. It reads through the query pipeline, writes in the store's
 * transactions, and depends on no concrete store and no other lens.
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
 * How a lens's data is exported and imported where copying rows is not enough: keys of entries differ between stores, and processes that
 * follow a lens's own logs must learn of imported rows.
 */
export interface LensTransfer {
  /** Called before an export: writes data that the lens has queued in memory to the store. */
  flush?(host: LensHost): void
  /** Converts a row to the form in which it is exported; `table` is the name of any table of the store. */
  exportRow?(reader: StoreReader, table: string, row: Row): Row
  /** Called once in the transaction of an import, before the first row is imported. */
  beginImport?(writer: StoreWriter, context: ImportContext): LensImport
}

export interface ImportContext {
  readonly now: Instant
  random(bytes: number): Uint8Array
}

export interface LensImport {
  /**
   * Converts an exported row to the form in which it is written to this store. Rows of a table come in the order of the export. Throws for
   * a row that must not be imported.
   */
  row(table: string, row: Row): Row
  /**
   * Called when all rows have been written. Returns one sentence for each imported thing that cannot be used in this store, with advice on
   * what to do.
   */
  end(): readonly string[]
}

/** A file of an export of chats, opened by the engine, since a lens has no access to the disk. */
export interface ExportFile {
  /** Path relative to the folder that is read, with parts separated by `/`; the file name alone where one file is read. */
  readonly path: string
  /** The file's bytes from the beginning, in pieces. Each call reads the file again. */
  bytes(): AsyncIterable<Uint8Array> | Iterable<Uint8Array>
}

export interface ChatOptions extends ChatRequest {
  /** For JSONL: a map from message fields to the names of the record's fields. */
  readonly map?: Readonly<Record<string, string>> | undefined
}

/**
 * Settings for imported messages. `given` has those of this import, which also change messages already in the store. The other fields apply
 * to new messages only, and include what earlier imports set; null: never set.
 */
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
  /** Called for each message whose audience the import changed. */
  readonly moved: (from: Audience, to: Audience) => void
}

/**
 * How reports name the files of an export. `shown`: the path of one file as the requester would write it; `whole`: the export as a whole.
 */
export interface ChatNames {
  readonly shown: (path: string) => string
  readonly whole: string
}

export interface ChatReport {
  /** Number of messages added; the counts below are numbers of messages too. */
  readonly added: number
  readonly updated: number
  readonly unchanged: number
  readonly deleted: number
  /** Number of chunks of added and updated messages. */
  readonly chunks: number
  /** Records left out on purpose, by kind, with the number of each. */
  readonly skipped: readonly { readonly path: string; readonly reason: string; readonly count: number }[]
  /** Records or files that could not be read; the message includes the line. */
  readonly errors: readonly { readonly path: string; readonly message: string }[]
}

/**
 * Function that writes the messages of an export into the store. Rejects for an invalid request, but never because of the content of a
 * file.
 */
export type ImportChat = (
  store: Store,
  files: readonly ExportFile[],
  options: ChatOptions,
  settings: ChatSettings,
  names: ChatNames,
  call: Pick<CallContext, 'signal' | 'report'>,
) => Promise<ChatReport>

/** Settings of a lens that name a Qdrant server (a vector database). */
export interface ServerSettings {
  readonly url: string
  /** Whether the server may be queried for viewers other than the owner. */
  readonly public: boolean
  /** Environment variable that holds the server's key. */
  readonly keyVariable: string
}

/** Settings of a server that makes vectors and has the same HTTP interface as OpenAI's. */
export interface ModelSettings {
  readonly model: string
  /** URL of the server; absent: OpenAI's own server. */
  readonly url: string | undefined
  /** Environment variable that holds the key; absent: no key is sent. */
  readonly keyVariable: string | undefined
}

/** A problem in a lens's tables, reported by the doctor command. */
export interface TableProblem {
  readonly message: string
  /** Advice on what to do about the problem; null: the data are damaged. */
  readonly help: string | null
  /** Whether this is only information, and nothing is wrong with the store. */
  readonly isNote?: boolean | undefined
}

/** Services that the engine provides to a lens's operations, jobs and ingesters. */
export interface LensHost {
  readonly store: Store
  readonly clock: Clock
  readonly embedder: Embedder | null
  /** The lens's settings from the configuration, as checked by the lens. */
  readonly settings: unknown
  /** Random bytes, new at each call; replaceable, so that tests can reproduce ids. */
  random(bytes: number): Uint8Array
  accessScope(viewer: Viewer): AccessScope
  /** Resolves when all entries written so far have their vectors; at once where there is no embedder. Rejects when embedding fails. */
  embedded?(signal: AbortSignal, report?: (progress: Progress) => void): Promise<void>
  /**
   * Runs the function `body` under a named lock: waits until no other such function runs under this name for this lens on the store, in any
   * process. Rejects with `cancelled` when the signal is aborted during the wait. Absent where no other process can use the store.
   */
  exclusive?<T>(name: string, options: ExclusiveOptions, body: (turn: Turn) => Promise<T>): Promise<T>
  /** The folder that the store belongs to; absent for a store without one, such as a store in memory. */
  readonly workspace?: Workspace | undefined
  /**
   * An index by name, up to date with the store. Changes since the last use are applied without a pause, unless `ready` has applied them
   * before.
   */
  index(name: string): Index
  /**
   * Loads the named indexes and brings all loaded ones up to date, with pauses for other work (QE-019). Rejects with `cancelled`. Absent
   * where indexes are small enough to be updated without a pause.
   */
  ready?(names: readonly string[], signal?: AbortSignal): Promise<void>
  /**
   * An external source (such as a vector database) by the name that it has in the configuration. Rejects with `invalid_argument`, listing
   * the configured names.
   */
  source(name: string): Promise<Source>
  /**
   * Opens servers and models that the lens's settings name; the lens must close what it opened. Opening rejects with `provider_failed`
   * where the server does not answer. Absent: this engine can reach no servers.
   */
  readonly remote?: Remotes | undefined
  /** Subscriptions to queries of this engine: a subscriber receives the changes of an answer. */
  readonly live?: LiveQueries | undefined
  /** Identity of this engine towards other nodes of a federation (`node`), and the connection by which it reaches them (`transport`). */
  readonly node?: NodeIdentity | undefined
  readonly transport?: NodeTransport | undefined
  /** Whether this process keeps running and does background work; only a lasting process subscribes to other nodes. */
  readonly isLasting?: boolean | undefined
  /** Makes a store in memory with its own indexes, for data that is assembled for one answer and then dropped. */
  scratch?(): Scratch
  /**
   * Runs a query through the pipeline with the stages of this lens, or of another lens named in the input. The answer includes the entries
   * of its items as they were when the query ran. Entries that the lens reads later must be checked for access again.
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
  /** Called once when the caller must wait, because work under a lock of the same name is already running. */
  readonly onWait?: (() => void) | undefined
}

/** What `exclusive` passes to the function that it runs under its lock. Valid for as long as the lock is held. */
export interface Turn {
  /** Aborted when the caller's signal is aborted, when the engine closes, and when another process has taken over the lock. */
  readonly signal: AbortSignal
  readonly requireHeld: Condition
}

export interface Scratch {
  readonly store: Store
  /** An index over the store in memory, by name, up to date with that store. */
  index(name: string): Index
}

/** Absolute paths of source code that a lens reads and indexes itself. */
export interface CodePaths {
  readonly paths: readonly string[]
  /** True: everything read below these paths is deleted, and changes there are no longer followed. */
  readonly forget: boolean
}

/**
 * Background work of a lens. One process at a time does it, under a lease that is renewed while it runs; the signal is aborted when the
 * lease is lost or the engine closes. The doctor command shows the job's progress and its last failure.
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
 * A check to be called first in each transaction of a background job or of work under a lock (`exclusive`). It throws `cancelled` when
 * another process has taken over the lease. Needed because a process that was suspended gets its signal only later, when it may have
 * written already.
 */
export type Condition = (reader: StoreReader) => void

export interface LensRepair {
  /** Name under which the doctor command lists the check. */
  readonly check: string
  /** Message of the doctor command when nothing is missing. */
  readonly sound: string
  /** Finds missing data, described in one line each; empty when nothing is missing. Only reads, pausing between steps for other work. */
  find(reader: StoreReader): Steps<readonly string[]>
  /**
   * Makes the missing data from the store and returns a sentence about what was done. Rejects with a `QuerentError` for data that cannot be
   * made.
   */
  repair(host: LensHost, signal: AbortSignal): Promise<string>
}

/** The part of a lens that every store must know, whether or not the lens's code is loaded: its name, tables and kinds of entries. */
export interface LensDeclaration {
  /** Name of the lens in lower case: used as `--lens <name>`, and as the first part of its operations' names. */
  readonly name: string
  /** Declarations of the lens's aspects and own tables, whose names begin with the lens's name. */
  readonly tables?: readonly TableDeclaration[] | undefined
  /**
   * Kinds of entries that the lens ranks in its own way. A query of the default lens whose conditions allow only entries of these kinds is
   * answered by this lens.
   */
  readonly kinds?: readonly string[] | undefined
  /**
   * Further first parts of the names of the lens's operations, besides the lens's name: for features of the lens that other lenses may use
   * too, such as `trust`.
   */
  readonly families?: readonly string[] | undefined
}

export interface Lens extends LensDeclaration {
  /** Summary of the lens in one line. */
  readonly summary: string
  /**
   * Makers of the lens's own indexes, in addition to the indexes `words` and `vectors`. Each is called once per engine; the store's change
   * feed updates these indexes like the others.
   */
  readonly indexes?: readonly (() => Index)[] | undefined
  /** Indexes of points (coordinates) over the lens's own tables; the lens only declares them, and the engine builds them. */
  readonly pointIndexes?: readonly PointIndexDeclaration[] | undefined
  /** Indexes of links over the lens's own tables; the lens only declares them, and the engine builds them. */
  readonly linkIndexes?: readonly LinkIndexDeclaration[] | undefined
  /**
   * False: the lens's stages never search words, so a query that returns only ranked keys, without items, does not load the word index.
   * Default true.
   */
  readonly readsWords?: boolean | undefined
  /**
   * When true, the lens's stages compare vectors only through `context.vectors`, so that texts and queries in other languages may use the
   * vectors of a second model.
   */
  readonly knowsLanguages?: boolean | undefined
  /** `plain`: for this lens, operators such as `+word` in the query's text are not interpreted, whatever syntax the query requests. */
  readonly syntax?: 'plain' | undefined
  /** Schema of the `options` that a query may have for this lens; absent: the lens has no options. */
  readonly options?: z.ZodType | undefined
  /**
   * Called before each query of the lens, so that the store contains what answers need. Returns a store in memory to be queried instead,
   * for a viewer whose query must not write; null: the engine's store is queried. An error that it throws ends the query.
   */
  prepare?(host: LensHost, call: Pick<CallContext, 'viewer' | 'signal'>): Promise<Scratch | null>
  /**
   * The stages of the query that the lens replaces; default stages are used for the rest. Where the stages are given as a function, it is
   * called once per engine, with the engine's services for the lens.
   */
  readonly stages?: Partial<Stages> | ((host: LensHost) => Partial<Stages>) | undefined
  readonly operations?: readonly Operation<LensHost>[] | undefined
  readonly jobs?: readonly Job[] | undefined
  /**
   * For paths of source code that the lens reads and indexes itself: reads changes below them, or deletes what was read before; acts as the
   * owner. Returns the number of files removed; rejects on failure.
   */
  readonly readCode?: ((host: LensHost, request: CodePaths, signal: AbortSignal) => Promise<number>) | undefined
  /** Ingesters that are tried before the built-in ones when files are added. */
  readonly ingesters?: readonly Ingester[] | undefined
  /** Imports the files of an add request that asks for chats (`AddRequest.chat`). At most one lens has it. */
  readonly importChat?: ImportChat | undefined
  /**
   * Called in each transaction in which the engine's own operations write or delete entries, before the write. The function that it returns
   * is called after the write, and corrects data that the lens copied from these entries into other entries. Some of the entries may have
   * no row in this lens's tables.
   */
  beforeWrite?(writer: StoreWriter, entries: readonly EntryKey[]): () => void
  /**
   * Counts the entries that a query has shown as used. Absent: the store's access state counts them. Not called for queries that must not
   * count as uses. `options`: the query's options, as parsed by the lens's schema. It may throw errors of a busy or read-only store: then
   * the use is not counted.
   */
  touch?(host: LensHost, viewer: Viewer, entries: readonly EntryKey[], now: Instant, options: unknown): void
  /**
   * Offers the exports of a trusted plug-in module to the lens, before `open`. Returns false where they are not meant for this lens; throws
   * when they are faulty. A module is accepted when any lens takes it. `file`: path of the module.
   */
  install?(host: LensHost, exported: Readonly<Record<string, unknown>>, file: string): boolean
  /** Describes, for error messages, what a plug-in module must export so that the lens takes it. */
  readonly takes?: string | undefined
  /** Called when the engine opens, before any query; an error that it throws ends the opening of the engine. */
  open?(host: LensHost): void | Promise<void>
  /** Called when the engine closes, before the store closes, so that the lens can write data that it has queued in memory. */
  close?(host: LensHost): void | Promise<void>
  /**
   * Finds problems in the lens's own tables, for the doctor command. Only reads, pausing between steps, from a single state of the store.
   */
  check?(reader: StoreReader): Steps<readonly TableProblem[]>
  /** Data of the lens that may be missing and can be made again from the store; the doctor command checks and repairs it. */
  readonly repairs?: readonly LensRepair[] | undefined
  readonly transfer?: LensTransfer | undefined
  /**
   * Checks the lens's settings from the configuration file and fills in defaults; throws `invalid_argument`, or an error of its own.
   * `environment`: variables that begin with the lens's name in capitals and `_`, and those listed in `variables`; they override the
   * configuration.
   */
  settings?(given: unknown, environment: Readonly<Record<string, string>>): unknown
  /** Names of further environment variables that the lens's settings use. */
  readonly variables?: readonly string[] | undefined
}
