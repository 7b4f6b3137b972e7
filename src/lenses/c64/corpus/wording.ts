/** How records are worded. */

/** Sentences from parts, each with its full stop; empty ones are left out. */
export function sentences(...parts: readonly (string | null | undefined)[]): string {
  return parts
    .map(part => (part ?? '').trim())
    .filter(part => part !== '')
    .map(part => (/[.!?]$/.test(part) ? part : `${part}.`))
    .map(part => part.charAt(0).toUpperCase() + part.slice(1))
    .join(' ')
}

/** "Also called A, B", or nothing. */
export function alsoCalled(names: readonly string[]): string {
  return names.length === 0 ? '' : `Also called ${names.join(', ')}`
}

/** Each tag once, sorted. */
export function tagList(...tags: readonly string[]): readonly string[] {
  return [...new Set(tags)].sort()
}
