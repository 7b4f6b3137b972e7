/** All there is to fuzz, by name. What a target needs is loaded when it is asked for. */
import type { Target } from './engine/target.ts'

/** Whatever its inputs are: they go from its own kind into its own `try`. */
// biome-ignore lint/suspicious/noExplicitAny: a target is used with its own inputs alone, and none is looked into here
export type AnyTarget = Target<any>

export const TARGETS: Readonly<Record<string, () => Promise<AnyTarget>>> = {
  grammar: async () => (await import('./targets/grammar.ts')).grammar,
  readers: async () => (await import('./targets/readers.ts')).readers,
  texts: async () => (await import('./targets/texts.ts')).texts,
  code: async () => (await import('./targets/code.ts')).code,
  enrichment: async () => (await import('./targets/enrichment.ts')).enrichment,
  settings: async () => (await import('./targets/settings.ts')).settings,
  tokens: async () => (await import('./targets/tokens.ts')).tokensTarget(),
  signatures: async () => (await import('./targets/signatures.ts')).signatures,
  snapshots: async () => (await import('./targets/snapshots.ts')).snapshots,
  transfer: async () => (await import('./targets/transfer.ts')).transferTarget(),
  operations: async () => (await import('./targets/operations.ts')).operationsTarget(),
  http: async () => (await import('./targets/http.ts')).http,
  mcp: async () => (await import('./targets/mcp.ts')).mcp,
  command: async () => (await import('./targets/command.ts')).commandTarget(),
}
