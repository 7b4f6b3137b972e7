/** One file from the disk to documents, or to the reason why there are none. */
import { sha256 } from '../base/canonical.ts'
import type { FileProblem, Ingester, IngestSettings } from '../model/ingester.ts'
import { extensionOf } from './file-types.ts'
import { ingesterFor } from './ingesters.ts'
import type { KnownFile } from './known-files.ts'
import { messageOf } from './messages.ts'
import { readText } from './read-file.ts'
import type { SkipReason } from './walk.ts'
import type { ReadFile } from './write-file.ts'

export interface FileToLoad {
  readonly absolute: string
  readonly root: string
  readonly path: string
  readonly known: KnownFile | undefined
  readonly maxBytes: number
  readonly ingesters: readonly Ingester[]
  readonly settings: IngestSettings
  /** Of everything but the file that decides what becomes of it. */
  readonly fingerprint: string
}

export type FileOutcome = { readonly absolute: string } & (
  | { readonly kind: 'read'; readonly file: ReadFile; readonly problems: readonly string[] }
  | { readonly kind: 'unchanged'; readonly entries: number }
  | { readonly kind: 'skipped'; readonly reason: SkipReason }
  | { readonly kind: 'failed'; readonly message: string }
)

export async function loadFile(file: FileToLoad): Promise<FileOutcome> {
  const { absolute, root, path, known } = file
  const name = path.slice(path.lastIndexOf('/') + 1)
  const named = { path, name, extension: extensionOf(name) }
  const ingester = ingesterFor(named, file.ingesters)
  const content = await readText(absolute, Math.max(file.maxBytes, ingester.maxBytes ?? 0))
  if (content.kind === 'skipped') return { absolute, ...content }
  if (content.kind === 'failed') return { absolute, kind: 'failed', message: messageOf(content.error) }

  const { text, bytes, modifiedAt } = content
  const hash = sha256(`${file.fingerprint} ${ingester.name} ${ingester.version} ${sha256(bytes)}`)
  if (known?.hash === hash) return { absolute, kind: 'unchanged', entries: known.entries.length }
  const { documents, problems } = ingester.read({ ...named, text, modifiedAt }, file.settings)
  if (documents.length === 0 && problems.length === 0 && known === undefined) {
    return { absolute, kind: 'skipped', reason: 'empty' }
  }
  const read = { absolute, root, path, known, hash, size: bytes.length, modifiedAt, documents }
  return { absolute, kind: 'read', file: read, problems: problems.map(problemText) }
}

function problemText({ line, message }: FileProblem): string {
  return line === null ? message : `line ${line}: ${message}`
}
