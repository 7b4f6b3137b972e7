/** What we do about each kind of row that is lost: written by people, looked up by the page. */

export type Topic =
  | 'vectors'
  | 'filters'
  | 'new filters'
  | 'words'
  | 'hybrid'
  | 'changes'
  | 'building'
  | 'opening'
  | 'memory'
  | 'disk'

export const WHAT_WE_DO: Readonly<Record<Topic, string>> = {
  vectors:
    'a graph of neighbours looks at a few hundred vectors, the scan at all of them in 48 bytes each. We keep the scan up to half a million rows: it needs no building, loses nothing to filters and deletes, and stays below a millisecond; beyond that the rows are in lists by cluster, of which few are read.',
  filters:
    'a whole question also finds out what may be seen, counts uses on disk and explains itself, whatever the filter leaves over; the indexes alone show what the filter costs. Where a graph wins, the filter keeps nearly all that lies near the question. We do nothing more about the index; the fixed part of a question is worked on as a whole.',
  'new filters':
    'a filter on metadata reads the metadata of all visible entries when it is first asked, and keeps the set until something is written; others have an index on each field that somebody declared. A declared index on chosen metadata fields would bring this to the cost of its matches.',
  words:
    'the word index alone answers in a fraction of the time of a whole question, which also looks at phrases, titles, rules, excerpts and use. Peers that give ten texts and nothing more do less for one answer.',
  hybrid: 'the two legs take a fraction of it; the rest is what a whole question does beside (see words).',
  changes:
    'a change is one transaction on disk that also writes the feed that other processes and live questions follow, and the next question brings both indexes up to date. Peers ahead of it change memory alone, and lose it with the process.',
  building:
    'documents are cut, hashed, written with history and feed, and their words and vectors indexed; what is ahead does one of these. Writing in larger transactions and indexing on a second thread are open.',
  opening:
    'the store is checked, both snapshots are read and verified. What is ahead maps a file and reads it when asked.',
  memory:
    'indexes are held in memory for speed: 456 bytes a vector, and the words. Peers that read from disk leave the memory to the cache of the operating system, which is not counted here.',
  disk: 'vectors are stored twice (as given in the store, in eight bits and signs in the snapshot), texts once with a history of changes. The snapshot can be deleted at any time.',
}
