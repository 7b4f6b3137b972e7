/** docs/reference/errors.md: every code, from the table in src/model/errors.ts and those of the lenses. */
import { readFileSync } from 'node:fs'
import { exitCodeFor } from '../../src/interfaces/cli/io.ts'
import { statusOf } from '../../src/interfaces/http/failure.ts'
import { BELIEFS_CODES, type BeliefsCode, BeliefsError } from '../../src/lenses/beliefs/errors.ts'
import { ERROR_CODES, type ErrorCode, QuerentError } from '../../src/model/errors.ts'
import { CHROMA_ERRORS, CONTEXT_ERRORS } from './lens-errors.ts'
import { code, MADE, table } from './markdown.ts'

export function errorsPage(): string {
  const meanings = meaningsIn(readFileSync(new URL('../../src/model/errors.ts', import.meta.url), 'utf8'))
  const names = Object.keys(ERROR_CODES) as ErrorCode[]
  return [
    MADE,
    INTRODUCTION,
    `## Codes\n\n${names.map(name => `[${code(name)}](#${name})`).join(', ')}\n`,
    ...names.map(name => entryOf(name, meanings.get(name))),
    ANY,
    beliefsSection(),
    chromaSection(),
    contextSection(),
    COLLECTIONS,
  ].join('\n')
}

const INTRODUCTION = `# Errors

A failure has one shape at every interface: \`{"error": {"code", "message", "details"}}\`. The code is stable; the message names the field,
the value, what was expected and what to do; \`details\` says the same for programs. Over HTTP it comes with a status, from the command
line with an exit code (every failure of \`querent call\` ends with 1), over MCP as a result with \`isError\`. *Retryable* means that the
same call may succeed later without being changed.
`

const ANY = `## Any operation

Whatever is asked, the answer can be \`invalid_argument\` or \`unknown_field\` (the input is wrong), \`unknown_operation\`, \`invalid_json\`
and \`too_large\` (the body cannot be read), \`unauthenticated\`, \`denied\` and \`rate_limited\` (the requester), \`cancelled\` and
\`deadline_exceeded\` (it took too long), and what concerns the machine: \`store_missing\`, \`store_locked\`, \`store_readonly\`, \`store_corrupt\`,
\`store_newer\`, \`io_failed\`, \`model_invalid\`, \`embedder_failed\`, \`provider_failed\` and \`internal\`. Requesters from outside learn only of the
last group that there is a fault, not where.
`

function entryOf(name: ErrorCode, meaning: string | undefined): string {
  if (meaning === undefined) throw new Error(`src/model/errors.ts says nothing of ${name}`)
  const { help, retryable } = ERROR_CODES[name]
  const error = new QuerentError(name, '')
  const [what, details] = splitDetails(meaning)
  const lines = [
    `- HTTP ${statusOf(error)}, exit code ${exitCodeFor(error)}${retryable ? ', retryable' : ''}`,
    ...(details === '' ? [] : [`- Details: ${details.split(', ').map(detailText).join(', ')}`]),
    `- What to do: ${help}`,
  ]
  return `### ${name}\n\n${what}\n\n${lines.join('\n')}\n`
}

/** What the comment in front of each row of the table says, as a sentence in one line. */
function meaningsIn(source: string): ReadonlyMap<string, string> {
  const rows = source.matchAll(/\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n {2}([a-z_]+): row\(/g)
  return new Map([...rows].map(([, comment = '', name = '']) => [name, sentenceOf(comment)]))
}

function sentenceOf(comment: string): string {
  const text = comment
    .replace(/\n +\* ?/g, ' ')
    .trim()
    .replace(/^Error: /, '')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function splitDetails(meaning: string): readonly [string, string] {
  const [what = '', details = ''] = meaning.split(/\s*details: /)
  return [what, details.replace(/\.$/, '')]
}

/** `length (UTF-16 units)`: the name is code. */
function detailText(text: string): string {
  return text.replace(/^[a-z_]+/, name => code(name))
}

const BELIEFS_MEANING: Readonly<Record<BeliefsCode, string>> = {
  INVALID_QUERY: 'The request is wrong, or names a belief that is not there for the requester',
  INVALID_FILTERS: 'A filter is wrong',
  UNAUTHORIZED: 'The requester may not do this, or is not known (HTTP 401); it is not said why',
  TIMEOUT: 'There was no answer in time',
  RATE_LIMITED: 'The requester has asked too much lately',
  NODE_UNAVAILABLE: 'The node, or one that was asked, cannot answer now',
  INTERNAL_ERROR: 'A bug of ours',
}

function beliefsSection(): string {
  const rows = (Object.keys(BELIEFS_CODES) as BeliefsCode[]).map(name => {
    const error = new BeliefsError(name, '')
    return [
      code(name),
      BELIEFS_MEANING[name],
      String(statusOf(error)),
      String(exitCodeFor(error)),
      error.retryable ? 'yes' : 'no',
      error.help,
    ]
  })
  return `## Beliefs

Operations of \`beliefs\`, \`trust\`, \`agents\`, \`federations\` and \`peers\` have these seven codes and no others, with \`type\` \`QueryError\`, \`retryable\` and
\`request_id\`; \`details.path\` names the place, \`details.reason\` says what is wrong in a stable word, \`details.all\` has up to twenty faults.

${table(['Code', 'Meaning', 'HTTP', 'Exit code', 'Retryable', 'What to do'], rows)}`
}

function chromaSection(): string {
  const rows = CHROMA_ERRORS.map(([name, type, meaning, kind]) => {
    const error = new QuerentError({ code: name, type, kind, retryable: false, help: '' }, '')
    return [code(name), code(type), meaning, String(statusOf(error)), String(exitCodeFor(error))]
  })
  return `## Chroma

On the wire \`type\` is the class of the error in a program ([the lens chroma](../guide/chroma.md#errors)). Codes of plug-ins and settings
come when the lens is opened.

${table(['Code', 'Type', 'Meaning', 'HTTP', 'Exit code'], rows)}`
}

function contextSection(): string {
  return `## Context

Answers have an envelope: \`status\` is \`error\`, and \`errors\` has, by field, \`{code, message}\`. Over HTTP the status is 200 then, as of any
answer; the command ends with 1.

${table(
  ['Code', 'Meaning'],
  CONTEXT_ERRORS.map(([name, meaning]) => [code(name), meaning]),
)}`
}

const COLLECTIONS = `## Collections

\`type\` is \`ChromaQueryError\`: \`invalid_argument\` (HTTP 400) for a wrong parameter, \`store_failed\` (503) where a store or server cannot be
opened or reached, \`query_failed\` (503) where it did not answer.
`
