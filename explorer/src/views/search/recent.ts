/** Questions that were asked here lately. They stay in this browser. */
const KEY = 'querent.recent'
const MOST = 50

export function remember(text: string): void {
  const asked = text.trim()
  if (asked === '') return
  const next = [asked, ...recent().filter(one => one !== asked)].slice(0, MOST)
  localStorage.setItem(KEY, JSON.stringify(next))
}

/** Newest first. */
export function recent(): readonly string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]')
    return Array.isArray(kept) ? kept.filter(one => typeof one === 'string') : []
  } catch {
    return []
  }
}
