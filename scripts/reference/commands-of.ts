/**
 * Which commands of the command line run an operation. Most are called as the operation is (`chroma.query` is `chroma
 * query`); the others stand here.
 */
import type { Known } from './known.ts'

/** Command lines by operation, without `querent`. */
const CALLED_OTHERWISE: Readonly<Record<string, readonly string[]>> = {
  'c64.enrich': ['c64 --enrich-only'],
  'c64.query': ['c64'],
  'chroma.batch_query': ['chroma batch'],
  'chroma.query_knn': ['chroma query --knn'],
  'chroma.set': ['chroma update'],
  'chroma.statistics': ['chroma stats'],
  'chroma.suggest_hashtags': ['chroma suggest'],
  'collections.query': ['collections'],
  'beliefs.context_query': ['beliefs context'],
}

/** Without `querent`; empty: there is `querent call` alone. */
export function commandsOf(operation: string, { commands }: Known): readonly string[] {
  const path = operation.replaceAll('.', ' ').replaceAll('_', '-')
  const own = commands.filter(command => command.path === path).map(command => command.path)
  return [...own, ...(CALLED_OTHERWISE[operation] ?? [])]
}
