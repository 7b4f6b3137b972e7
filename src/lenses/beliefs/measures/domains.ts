/** Domains of knowledge: paths of up to five segments, and what lies below what (BQ-006, BQ-048, BQ-063). */

const MAX_DOMAIN_SEGMENTS = 5

/** `Code:Rust` gives `code/rust`. Null for what is no domain. */
export function normaliseDomain(text: string): string | null {
  // Checked before it is lower-cased: some letters of other scripts have a Latin one in lower case.
  if (text.length > LONGEST || !/^[\w:/-]+$/.test(text)) return null
  const segments = text.toLowerCase().split(/[:/]/)
  const fits = segments.length <= MAX_DOMAIN_SEGMENTS && segments.every(segment => SEGMENT.test(segment))
  return fits ? segments.join('/') : null
}

/** Whether a domain is that one or lies below it; both normalised. `tech/ai` is in `tech`, `technology` is not. */
export function isWithin(domain: string, ancestor: string): boolean {
  return domain.startsWith(ancestor) && (domain.length === ancestor.length || domain[ancestor.length] === '/')
}

/** What a map by domain says of a domain: its own entry, else that of its nearest ancestor, else undefined. */
export function nearestEntry<T>(entries: ReadonlyMap<string, T>, domain: string): T | undefined {
  for (let path = domain; ; path = path.slice(0, path.lastIndexOf('/'))) {
    const entry = entries.get(path)
    if (entry !== undefined || !path.includes('/')) return entry
  }
}

/** Mean over those of the domains that have an entry; null: none has (BQ-062, BQ-081). */
export function meanEntry(entries: ReadonlyMap<string, number>, domains: readonly string[]): number | null {
  let [sum, count] = [0, 0]
  for (const domain of domains) {
    const entry = nearestEntry(entries, domain)
    if (entry === undefined) continue
    sum += entry
    count++
  }
  return count === 0 ? null : sum / count
}

export function depthOfDomain(domain: string): number {
  return domain.split('/').length
}

const SEGMENT = /^[a-z0-9_-]{1,32}$/
const LONGEST = 5 * 32 + 4
