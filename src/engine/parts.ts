/** What an engine is made of: put together by `open.ts`, used by everything else in this folder. */
import type { Clock } from '../base/clock.ts'
import type { Embedder } from '../embed/embedder.ts'
import type { NodeIdentity } from '../identity/messages.ts'
import type { Limits } from '../identity/rates.ts'
import type { Index } from '../index/contract.ts'
import type { Scratch } from '../lenses/lens.ts'
import type { LensRegistry } from '../lenses/registry.ts'
import type { TableDeclaration } from '../model/table.ts'
import type { Workspace } from '../model/workspace.ts'
import type { NodeTransport } from '../pipeline/transport.ts'
import type { Store } from '../store/store.ts'
import type { AddedFiles } from './added-files.ts'
import type { Embedding, JobState } from './background/background.ts'
import type { Lease } from './background/lease.ts'
import type { IndexSet } from './index-set.ts'
import type { Models } from './models.ts'
import type { SignedRequests } from './node-identity.ts'
import type { LiveSettings } from './options.ts'
import type { SourceSet } from './sources.ts'
import type { Uses } from './uses.ts'

export interface Parts {
  readonly store: Store
  readonly home: string | null
  /** Where the store lies; null for one in memory or of the caller's own. */
  readonly storeFile: string | null
  /** Absent without a home. */
  readonly workspace: Workspace | undefined
  readonly clock: Clock
  readonly random: (bytes: number) => Uint8Array
  /** The one that answers at the moment. */
  readonly embedder: Embedder | null
  readonly models: Models
  /** Why there is no embedder although one was wanted, or null. */
  readonly embedderError: string | null
  readonly indexes: IndexSet
  /** For writing the files of the indexes: one process at a time. */
  readonly snapshots: Lease
  /** Another one at each call: two of one name exclude each other within this engine as well. */
  readonly lease: (name: string) => Lease
  readonly uses: Uses
  /** Files and folders that were added. */
  readonly files: AddedFiles
  /** Opened when one is first asked for. */
  readonly sources: () => Promise<SourceSet>
  /** Undefined in an engine that was opened for one question. */
  readonly node: NodeIdentity | undefined
  readonly signedRequests: SignedRequests | undefined
  readonly transport: NodeTransport
  /** Whether it works in the background, for as long as its process stays. */
  readonly isLasting: boolean
  readonly makeIndex: (name: string) => Index
  /** An empty store in memory, with the indexes of entries. */
  readonly makeScratch: () => Scratch
  readonly embedding: Embedding | null
  /** Whether to load the vector index while the first question is embedded. */
  readonly warm: boolean
  /** How the jobs that ran in this process are doing. */
  readonly jobs: ReadonlyMap<string, JobState>
  readonly registry: LensRegistry
  readonly tables: readonly TableDeclaration[]
  readonly defaultLens: string
  readonly live: LiveSettings
  readonly limits: Limits
  readonly lensSettings: Readonly<Record<string, unknown>>
  /** Variables that are set. */
  readonly environment: Readonly<Record<string, string>>
  /** Ends background work and closes what was opened, in reverse order. */
  readonly close: () => Promise<void>
}
