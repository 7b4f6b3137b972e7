/** What reads a text by hand, each by its name: tokens, chunks, passages, headings, hashtags, times. */

import { loadVocabulary } from '../../../src/lenses/chroma/colour/bindings.ts'
import { loadStack, writeStack } from '../../../src/lenses/chroma/colour/stack.ts'
import { findTime } from '../../../src/lenses/chroma/profiles/default-profile.ts'
import { QuerentError } from '../../../src/model/errors.ts'
import { readDate } from '../../../src/model/instant.ts'
import { questionMatcher } from '../../../src/pipeline/passage.ts'
import { countTokens } from '../../../src/text/blocks.ts'
import { chunkContent, type TextFormat } from '../../../src/text/chunk.ts'
import { excerpt } from '../../../src/text/excerpt.ts'
import { language } from '../../../src/text/language.ts'
import { lineEnds } from '../../../src/text/lines.ts'
import { markdownStructure } from '../../../src/text/markdown-structure.ts'
import { stem } from '../../../src/text/stem.ts'
import { parseTimeSpan } from '../../../src/text/time-value.ts'
import { MAX_TERM_LENGTH, tokenise } from '../../../src/text/tokenise.ts'
import { filesNear, type NamedText, type Target } from '../inputs.ts'
import { assertEqual, must, orRefused } from '../oracles.ts'

/** 2026-03-01T12:00Z. */
const NOW = Date.UTC(2026, 2, 1, 12)
const FORMATS: readonly TextFormat[] = ['plain', 'markdown', 'code']

const READERS: Readonly<Record<string, (text: string) => void>> = {
  tokens: text => {
    for (const { term, start, end } of tokenise(text)) {
      must(0 <= start && start < end && end <= text.length, `${term} at ${start} to ${end}`)
      must(term !== '' && term.length <= MAX_TERM_LENGTH, `a term of ${term.length} characters`)
      must(stem(term, language(text)) !== '', `nothing is left of ${term}`)
    }
    must(countTokens(text) >= 0, 'fewer tokens than none')
  },
  chunks: text => {
    const lines = 1 + lineEnds(text, 0, text.length)
    for (const format of FORMATS) {
      let before = -1
      for (const chunk of chunkContent(text, { format })) {
        const { start, end, startLine, endLine } = chunk
        must(start > before && start <= end && end <= text.length, `${format}: a chunk from ${start} to ${end}`)
        must(1 <= startLine && startLine <= endLine && endLine <= lines, 'lines')
        before = start
        assertShows(text, chunk)
      }
    }
  },
  headings: text => {
    for (const { level } of markdownStructure(text).headings)
      must(level >= 1 && level <= 6, `a heading of level ${level}`)
  },
  hashtags: text => {
    for (const { hashtag } of orRefused(() => loadVocabulary(text)) ?? []) must(hashtag !== '', 'no hashtag')
  },
  stack: text => {
    try {
      loadStack(text)
    } catch (thrown) {
      // Of a file of the lens's own contract, which calls it broken.
      if (!(thrown instanceof QuerentError) || thrown.code !== 'stack_invalid') throw thrown
    }
  },
  times: text => {
    const span = parseTimeSpan(text, NOW)
    must(span === null || Object.values(span).every(at => !Number.isNaN(at)), 'a time that is none')
    const date = readDate(text)
    must(date === null || Number.isSafeInteger(date), 'a date that is none')
    const found = findTime(text, NOW / 1000)
    if (found !== null)
      assertEqual(
        Object.values(found.period).every(at => !Number.isNaN(at)),
        true,
        'a period that is none',
      )
  },
}

type Chunk = Parameters<typeof excerpt>[1]

function assertShows(text: string, chunk: Chunk): void {
  const match = questionMatcher(['quick fox', text.slice(0, 40)], language(text))
  const { start, text: shown, startLine, endLine, highlights } = excerpt(text, chunk, { match, maxLength: 80 })
  must(text.slice(start, start + shown.length) === shown && shown.length <= 80, 'a passage that is not in the text')
  must(startLine <= endLine, `a passage in lines ${startLine} to ${endLine}`)
  let before = 0
  for (const [from, to] of highlights) {
    must(before <= from && from < to && to <= shown.length, `a highlight from ${from} to ${to}`)
    before = to
  }
}

const WORDS = [
  ..."fox running canciones C++ node.js parseQuery x_y $D020 3.14 v1.2 don't 東京 \u0301".split(' '),
  ...[
    '# ',
    '## ',
    '===\n',
    '```\n',
    '> ',
    '- ',
    '    ',
    '\n\n',
    '\r',
    '\r\n',
    '. ',
    '{\n',
    '}\n',
    ' '.repeat(300),
    'word '.repeat(60),
  ],
  ...[
    ...'--- a/x\n~+++ b/y\n~@@ -1,3 +1,4 @@\n~@@ -0,0 +1 @@\n~+a\n~-b\n~ c\n~rename from x\n'.split('~'),
    ...'"\\303\\274"~/dev/null\n'.split('~'),
  ],
  ...'#tag core\n~#tag, mid\n~#x 17\n~# comment\n~outer~10001~{"version":~"anchors":[~null~]}'.split('~'),
  ...[
    ...'last week~hace 3 días~since ~2026-02-29~2026-W05~3 March 2024~>7d~..~yesterday~5 de mayo'.split('~'),
    ...'noon~-00:00'.split('~'),
  ],
]

const SEEDS: readonly NamedText[] = [
  { name: 'tokens', text: 'The quick parseQuery runs node.js v1.2 at $D020; las canciones están.' },
  {
    name: 'chunks',
    text: `# A\n\n${'Words run on. '.repeat(120)}\n\n## B\n\n\`\`\`\n${'code()\n'.repeat(80)}\`\`\`\n`,
  },
  { name: 'headings', text: '# A\n\nB\n===\n\n## C ##\n```\n# no\n```\n' },
  { name: 'hashtags', text: '# all\n#python core\n#sqlite, mid # why\n#v3 17\n' },
  { name: 'stack', text: writeStack([{ hashtag: '#python', anchor_id: 1 }], NOW) },
  ...['>=7d', '2026-01-01..2026-02-01', 'notes since last week', 'lo de hace 3 meses', 'from 2024-05 on'].map(text => ({
    ...{ name: 'times', text },
  })),
]

/** Of others than the stack, which is a megabyte. */
const LONGEST = 30_000

export const texts: Target<NamedText> = {
  near: good => filesNear(good, Object.keys(READERS), WORDS, 2_000_000),
  seeds: SEEDS,
  open: async () => ({ try: ({ name, text }) => READERS[name]?.(name === 'stack' ? text : text.slice(0, LONGEST)) }),
}
