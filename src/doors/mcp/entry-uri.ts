/** Entries as resources have addresses: `querent://entry/<id>`, the id as one part of a path. */

export const ENTRY_TEMPLATE = 'querent://entry/{id}'

export function entryUri(id: string): string {
  // Half a surrogate pair has no bytes.
  return `querent://entry/${encodeURIComponent(id.toWellFormed())}`
}
