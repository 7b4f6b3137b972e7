/**
 * Authenticates requests by bearer tokens: a file maps each token to a viewer. Without a token file, requests from this machine are those
 * of the local owner, and all others are rejected.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type ParseError, parseTree } from 'jsonc-parser'
import { invalidArgument, QuerentError } from '../../model/errors.ts'
import { isHolderName } from '../../model/partition.ts'
import { isOwner, LOCAL_OWNER, type Viewer } from '../../model/viewer.ts'
import { readBytes } from './body.ts'
import { type RequestContext, serverOf } from './env.ts'
import { isLoopback } from './guard.ts'

interface KnownToken {
  readonly hash: Buffer
  readonly viewer: Viewer
}

interface AuthenticatorOptions {
  /** Contents of the token file, not yet checked: `{"<token>": "<viewer>"}`. undefined: there is no token file. */
  readonly tokens?: unknown
  /** Whether requests without a token are always rejected. If there is a token file, they are rejected in any case. */
  readonly requireToken?: boolean | undefined
  /** Whether the server can be reached from this machine only. */
  readonly local: boolean
}

/** Minimum length of a token in characters: a token of this many random letters and digits cannot be guessed. */
const MIN_LENGTH = 16

export class Authenticator {
  readonly #known: readonly KnownToken[]
  readonly #local: boolean
  readonly #ownerWithoutToken: boolean

  /**
   * Creates an authenticator from the contents of the token file. Throws `invalid_argument` for invalid tokens; the message never contains
   * a token.
   */
  constructor({ tokens, requireToken = false, local }: AuthenticatorOptions) {
    this.#known = tokens === undefined ? [] : parseTokens(tokens)
    this.#local = local
    this.#ownerWithoutToken = local && tokens === undefined && !requireToken
  }

  /**
   * The viewer to whom the request's token belongs, or the local owner if no token is needed. `direct`: the request names this machine as
   * host and did not come through a proxy. Throws `unauthenticated` for a wrong or missing token; `denied` if the owner's token is used
   * from another machine.
   */
  viewerOf(authorization: string | null, direct: boolean): Viewer {
    if (authorization === null && direct && this.#ownerWithoutToken) return LOCAL_OWNER
    const token = /^Bearer +([^\s]+) *$/i.exec(authorization ?? '')?.[1]
    const viewer = token === undefined ? undefined : this.#find(token)
    if (viewer === undefined) throw new QuerentError('unauthenticated', 'a valid bearer token is needed', {})
    if (isOwner(viewer) && !(this.#local && direct)) {
      throw new QuerentError(
        'denied',
        'the token of the owner is valid on this machine only, and not through a proxy',
        {},
      )
    }
    return viewer
  }

  /**
   * Finds the viewer of a token. The token is compared with every known one in constant time, so that the duration reveals nothing about
   * them.
   */
  #find(token: string): Viewer | undefined {
    const hash = digest(token)
    let found: Viewer | undefined
    for (const known of this.#known) if (timingSafeEqual(known.hash, hash)) found = known.viewer
    return found
  }
}

function parseTokens(tokens: unknown): readonly KnownToken[] {
  if (typeof tokens !== 'object' || tokens === null || Array.isArray(tokens)) {
    throw invalidArgument('--tokens', typeof tokens, 'a JSON object {"<token>": "<viewer>"}')
  }
  return Object.entries(tokens as Record<string, unknown>).map(([token, viewer], at) => {
    if (!/^[\x21-\x7e]{1,512}$/.test(token)) {
      throw new QuerentError('invalid_argument', `--tokens: token ${at + 1} is not 1 to 512 visible ASCII characters`, {
        field: '--tokens',
      })
    }
    if (token.length < MIN_LENGTH) {
      throw new QuerentError(
        'invalid_argument',
        `--tokens: token ${at + 1} has ${token.length} characters, and at least ${MIN_LENGTH} are needed: make it of random letters and digits`,
        { field: '--tokens' },
      )
    }
    if (typeof viewer !== 'string' || !isHolderName(viewer)) {
      throw invalidArgument('--tokens', viewer, 'the name of a viewer, 1 to 200 characters without blanks')
    }
    return { hash: digest(token), viewer: { id: viewer } }
  })
}

function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

// Reads the file of bearer tokens, `{"<token>": "<viewer>"}`, and checks its permissions.

const GROUP_READS = 0o040
const ALL_BUT_OWNER = 0o077

/**
 * Reads the JSON of the token file; its contents are checked by the caller. `path`: relative to the working folder. Throws `io_failed`,
 * `invalid_json`, and `invalid_argument` if other users can read or write the file or if a token occurs twice. Messages never contain a
 * token.
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

/**
 * Checks permissions by PostgreSQL's rule for key files: the file must belong to this user and have mode 0600 or less, or belong to root
 * and have mode 0640 or less.
 */
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
  // Tokens that occur twice are looked for in the text, because JSON.parse keeps only the last of several members with one name.
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

// Authenticates requests that other nodes or agents have signed with their key.

export function isSigned(headers: Headers): boolean {
  return /^querent-signature /i.test(headers.get('authorization') ?? '')
}

/**
 * The viewer who signed a request; null if the request has no signature. The signature covers the body, which is read here and can be read
 * again. Throws `unauthenticated`, `too_large`, `cancelled`.
 */
async function signedViewer(c: RequestContext): Promise<Viewer | null> {
  const { raw } = c.req
  if (!isSigned(raw.headers)) return null
  const body = await readBytes(raw, c.get('app').maxBodyBytes)
  const { pathname, search } = new URL(raw.url)
  const facts = { method: raw.method, path: pathname + search, body }
  const viewer = await c.get('app').engine.signedRequests.viewerOf(facts, name => raw.headers.get(name))
  const hasBody = raw.method !== 'GET' && raw.method !== 'HEAD'
  c.req.raw = new Request(raw.url, {
    method: raw.method,
    headers: raw.headers,
    signal: raw.signal,
    ...(hasBody ? { body } : {}),
  })
  return viewer
}

// Finds the viewer for whom a request is answered: by its signature or bearer token, otherwise the local owner. The local owner may act as
// another viewer by the header `querent-viewer`.

export const VIEWER_HEADER = 'querent-viewer'

/**
 * Matches names of headers that proxies, content delivery networks and tunnels add, including unknown ones: `Forwarded`, `X-Forwarded-*`,
 * `Via`, `CF-*`, and any name that says the header contains an address (`X-Real-IP`, `True-Client-IP`, `X-Remote-Addr`). Clients themselves
 * do not send such headers.
 */
const FORWARDING =
  /^(?:via|cdn-loop|front-end-https|x-scheme)$|^(?:x-)?forwarded|^x-(?:original|envoy|arr|amzn|appengine|azure|vercel)-|^(?:cf|fly|tailscale)-|(?:^|-)(?:client)?(?:ip|addr|address)$/i

interface Requester {
  readonly viewer: Viewer
  /**
   * Whether the requester is subject to limits: false for the local owner, also if the owner acts as another viewer; true for everybody
   * else.
   */
  readonly remote: boolean
}

/**
 * Finds the viewer of a request. Throws `unauthenticated`; `rate_limited` if its address has recently sent too many wrong tokens; `denied`
 * if a viewer other than the local owner names another viewer; `invalid_argument` if the named viewer has an invalid name.
 */
export async function requesterOf(c: RequestContext, authenticator: Authenticator): Promise<Requester> {
  const own = await authenticated(c, authenticator)
  const remote = !isOwner(own)
  const name = c.req.header(VIEWER_HEADER)
  if (name === undefined) return { viewer: own, remote }
  if (remote) {
    throw new QuerentError('denied', `${VIEWER_HEADER}: only the local owner may act as another viewer`, {
      field: VIEWER_HEADER,
    })
  }
  if (!isHolderName(name)) throw invalidArgument(VIEWER_HEADER, name, 'a name of 1 to 200 characters without blanks')
  return { viewer: { id: name }, remote }
}

async function authenticated(c: RequestContext, authenticator: Authenticator): Promise<Viewer> {
  const signed = await signedViewer(c)
  if (signed !== null) return signed
  const authorization = c.req.header('authorization') ?? null
  try {
    return authenticator.viewerOf(authorization, isDirect(c))
  } catch (thrown) {
    const isWrong = thrown instanceof QuerentError && thrown.code === 'unauthenticated' && authorization !== null
    if (isWrong) c.get('app').engine.limits.failed(serverOf(c)?.incoming?.socket.remoteAddress ?? '')
    throw thrown
  }
}

/**
 * Whether the request names this machine as its host and shows no sign of a proxy. HTTP/1.0 counts as a sign, because proxies that add no
 * header often use it.
 */
function isDirect(c: RequestContext): boolean {
  if (!isLoopback(new URL(c.req.url).hostname) || serverOf(c)?.incoming?.httpVersion === '1.0') return false
  return !Object.keys(c.req.header()).some(name => FORWARDING.test(name))
}
