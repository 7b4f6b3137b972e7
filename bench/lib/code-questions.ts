// biome-ignore-all lint/suspicious/noTemplateCurlyInString: lines of code are quoted as they stand
/**
 * Twenty questions about this repository as an agent would ask them, written before any of the ways was measured. At
 * most a third of them contain a word of the name that answers. An answer is read when its line is read; the line is the
 * one that decides what was asked, and occurs only once in `src`.
 */

export interface CodeQuestion {
  readonly text: string
  /** From the folder that is searched, `/` between the parts. */
  readonly path: string
  /** What the line belongs to. */
  readonly symbol: string
  /** Without the spaces around it. */
  readonly line: string
}

export const QUESTIONS: readonly CodeQuestion[] = [
  {
    text: 'How does a second process find out that a background job is already being done?',
    path: 'engine/background/lease.ts',
    symbol: 'Lease',
    line: "return held !== undefined && held['holder'] !== this.#turn && !this.#isOver(held, now)",
  },
  {
    text: 'What happens when the user presses Ctrl-C a second time?',
    path: 'interfaces/cli/io.ts',
    symbol: 'Endings',
    line: 'if (this.ending !== null && bySignal) process.exit(exitCodeOf(this.ending))',
  },
  {
    text: 'Why would a saved index file not be used when the store is opened?',
    path: 'index/snapshot.ts',
    symbol: 'headerFor',
    line: "return header.change === changeAt(store, header.position) ? header : 'other_past'",
  },
  {
    text: 'Where are symbolic links and sockets left out while files are collected?',
    path: 'ingest/walk.ts',
    symbol: 'classify',
    line: "if (!entry.isFile()) return skipped('special')",
  },
  {
    text: 'Which result codes of SQLite are reported as a locked store?',
    path: 'store/sqlite/node-sqlite.ts',
    symbol: 'ofSqlite',
    line: "return new QuerentError('store_locked', `${file}: another process is writing; waited in vain`, { file }, error)",
  },
  {
    text: 'How long may each of several sources take, and what is returned for a late answer?',
    path: 'sources/fan-out.ts',
    symbol: 'askOne',
    line: 'const deadline = new Deadline(Math.min(timeoutMs, leftMs), stop)',
  },
  {
    text: 'How are suggestions for a mistyped operation found?',
    path: 'base/near-names.ts',
    symbol: 'nearNames',
    line: 'const allowed = Math.max(1, Math.floor(name.length / 3))',
  },
  {
    text: 'How are results kept from being all alike?',
    path: 'math/mmr.ts',
    symbol: 'spreadTier',
    line: 'open.setBest(lambda * choice.score(from + at) - (1 - lambda) * compare(at))',
  },
  {
    text: 'How do several hashtags become one colour?',
    path: 'math/gravity.ts',
    symbol: 'centreOfGravity',
    line: 'return point.mass / (EPSILON + squared)',
  },
  {
    text: 'What permissions does the folder of a new store get?',
    path: 'engine/home.ts',
    symbol: 'makeFolder',
    line: 'if (isMade(() => mkdirSync(folder, { mode: 0o700 }))) {',
  },
  {
    text: 'Where is the hash of the weights compared with the manifest before the model is loaded?',
    path: 'embed/onnx-folder.ts',
    symbol: 'readChecked',
    line: 'if (found !== expected) throw modelInvalid(file, `SHA-256 ${expected}`, `SHA-256 ${found}`)',
  },
  {
    text: 'Does asking the same thing twice run the embedding model twice?',
    path: 'embed/query-cache.ts',
    symbol: 'cacheQueries',
    line: 'const missing = [...new Set(texts)].filter(text => !found.has(text))',
  },
  {
    text: 'When is a result dropped because its meaning is no nearer than by chance?',
    path: 'pipeline/score.ts',
    symbol: 'isNoise',
    line: 'return cosine !== undefined && isByChance(cosine, context) && !hasWords',
  },
  {
    text: 'How much of one chunk is repeated in the next?',
    path: 'text/chunk.ts',
    symbol: 'overlapFrom',
    line: 'if (end - (before[at] as number) > OVERLAP_TOKENS) break',
  },
  {
    text: 'How is a page in the browser stopped from talking to the server on this machine?',
    path: 'interfaces/http/guard.ts',
    symbol: 'checkNames',
    line: 'if (origin === null ? !isFromOtherOrigin(method, headers) : isAllowedOrigin(origin, host, names)) return',
  },
  {
    text: 'Can a bearer token be guessed by measuring how long the comparison takes?',
    path: 'interfaces/http/auth.ts',
    symbol: 'Authenticator',
    line: 'for (const known of this.#known) if (timingSafeEqual(known.hash, hash)) found = known.viewer',
  },
  {
    text: 'How large may the body of a request over HTTP be?',
    path: 'interfaces/http/body.ts',
    symbol: 'MAX_BODY_BYTES',
    line: 'export const MAX_BODY_BYTES: number = 4 * 1024 * 1024',
  },
  {
    text: 'What keeps the worker thread from being terminated while the model runs?',
    path: 'embed/run-gate.ts',
    symbol: 'RunGate',
    line: 'return Atomics.load(this.#cells, SHUT) === 1 ? null : await work()',
  },
  {
    text: 'When is a cursor too old to be used?',
    path: 'pipeline/cursor.ts',
    symbol: 'openCursor',
    line: "if (now >= expires) throw refusal('cursor_expired', 'it is too old')",
  },
  {
    text: 'Are skill files that somebody has edited overwritten by the next install?',
    path: 'openings/skills.ts',
    symbol: 'installSkills',
    line: 'else if (there !== null && !force && !isOurs(there, path)) report.kept.push(path)',
  },
]

/** Whether a word of the name, of three letters or more, occurs in the question, whole or as the beginning of a word. */
export function namesItself({ text, symbol }: CodeQuestion): boolean {
  const asked = wordsOf(text)
  const parts = wordsOf(symbol.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2'))
  return parts.some(part =>
    asked.some(word => (part.length > 2 && word.startsWith(part)) || (word.length > 3 && part.startsWith(word))),
  )
}

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/\p{L}+/gu) ?? []
}
