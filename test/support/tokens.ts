/** Tokens for servers of tests: one for each name, and one for the owner, who needs one too where there are any. */
export function tokensOf(...names: readonly string[]): Record<string, string> {
  return Object.fromEntries(['owner', ...names].map(name => [tokenOf(name), name]))
}

export function tokenOf(name: string): string {
  return `token-of-${name}-in-tests`
}

export function bearer(name: string): { readonly authorization: string } {
  return { authorization: `Bearer ${tokenOf(name)}` }
}
