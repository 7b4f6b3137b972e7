/** The file of bearer tokens, `{"<token>": "<viewer>"}`: who may read it, and what it holds. */
import { type FileHandle, open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type ParseError, parseTree } from 'jsonc-parser'
import { QuerentError } from '../../model/errors.ts'

const GROUP_READS = 0o040
const ALL_BUT_OWNER = 0o077

/**
 * The file's JSON; what it holds is checked by whoever uses it. `path`: from the working folder. Throws `io_failed`, `invalid_json`, and `invalid_argument` for a
 * file that others may read or write and for a token that is there twice. Messages never show a token.
 */
export async function readTokens(workingFolder: string, path: string): Promise<unknown> {
  let file: FileHandle | null = null
  try {
    file = await open(resolve(workingFolder, path))
    const { mode, uid } = await file.stat()
    checkAccess(path, mode, uid)
    return parsed(path, await file.readFile('utf8'))
  } catch (error) {
    if (error instanceof QuerentError) throw error
    throw new QuerentError('io_failed', `--tokens ${path}: ${(error as Error).message}`, { path }, error)
  } finally {
    await file?.close()
  }
}

/** As PostgreSQL has it for its keys: this user's own file with mode 0600 or less, or one of root, with 0640 or less. */
function checkAccess(path: string, mode: number, uid: number): void {
  const user = process.getuid?.()
  if (user === undefined) return
  if (uid !== user && uid !== 0) throw wrong(path, 'it belongs to another user: copy it to a file of your own')
  const isOpen = (mode & ALL_BUT_OWNER & (uid === 0 ? ~GROUP_READS : ~0)) !== 0
  if (isOpen) {
    const octal = (mode & 0o777).toString(8).padStart(4, '0')
    throw wrong(path, `others may read or write it (mode ${octal}): run \`chmod 600\` on it`)
  }
}

function parsed(path: string, text: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new QuerentError('invalid_json', `--tokens ${path}: not JSON`, { path }, error)
  }
  // JSON.parse keeps the last of two members with one name.
  const errors: ParseError[] = []
  const tree = parseTree(text, errors)
  const members = tree?.type === 'object' ? (tree.children ?? []) : []
  const names = members.map(member => member.children?.[0]?.value as unknown)
  const twice = names.findIndex((name, at) => typeof name === 'string' && names.indexOf(name) < at)
  if (twice < 0) return value
  const first = names.indexOf(names[twice])
  throw wrong(path, `token ${twice + 1} is the same as token ${first + 1}: name each once`)
}

function wrong(path: string, what: string): QuerentError {
  return new QuerentError('invalid_argument', `--tokens ${path}: ${what}`, { field: '--tokens', path })
}
