/** Who a request is from: one bearer token a viewer, from a file; without a token the local owner, on loopback only. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { invalidArgument, QuerentError } from '../../model/errors.ts'
import { isHolderName, OWNER } from '../../model/partition.ts'
import { LOCAL_OWNER, type Viewer } from '../../model/viewer.ts'

interface KnownToken {
  readonly hash: Buffer
  readonly viewer: Viewer
}

export class Authenticator {
  readonly #known: readonly KnownToken[]
  readonly #ownerWithoutToken: boolean

  /**
   * `tokens` is unchecked JSON `{"<token>": "<viewer>"}`, or undefined for none. `loopback`: whether only this machine
   * can connect. Messages never show a token.
   */
  constructor(tokens: unknown, loopback: boolean) {
    this.#known = tokens === undefined ? [] : parseTokens(tokens)
    this.#ownerWithoutToken = loopback
  }

  /** `direct`: it did not come through a proxy. Throws `unauthenticated` for a wrong token, and for none where one is needed. */
  viewerOf(authorization: string | null, direct: boolean): Viewer {
    if (authorization === null && direct && this.#ownerWithoutToken) return LOCAL_OWNER
    const token = /^Bearer +([^\s]+) *$/i.exec(authorization ?? '')?.[1]
    const viewer = token === undefined ? undefined : this.#find(token)
    if (viewer === undefined) throw new QuerentError('unauthenticated', 'a valid bearer token is needed', {})
    return viewer
  }

  /** Looks at every token, so that the time taken tells nothing. */
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
    if (typeof viewer !== 'string' || !isHolderName(viewer) || viewer === OWNER) {
      throw invalidArgument('--tokens', viewer, `the name of a viewer (not ${OWNER}, who needs no token)`)
    }
    return { hash: digest(token), viewer: { id: viewer } }
  })
}

function digest(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
