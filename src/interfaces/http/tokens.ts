/** Who a request is from: one bearer token a viewer, from a file; where there are no tokens, the local owner, on this machine only. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { invalidArgument, QuerentError } from '../../model/errors.ts'
import { isHolderName } from '../../model/partition.ts'
import { isOwner, LOCAL_OWNER, type Viewer } from '../../model/viewer.ts'

interface KnownToken {
  readonly hash: Buffer
  readonly viewer: Viewer
}

export interface AuthenticatorOptions {
  /** Unchecked JSON `{"<token>": "<viewer>"}`, or undefined for none. */
  readonly tokens?: unknown
  /** No request is the owner's without a token. Tokens imply it. */
  readonly requireToken?: boolean | undefined
  /** Whether only this machine can connect. */
  readonly local: boolean
}

/** As many random letters and digits are more than anybody can try. */
const MIN_LENGTH = 16

export class Authenticator {
  readonly #known: readonly KnownToken[]
  readonly #local: boolean
  readonly #ownerWithoutToken: boolean

  /** Messages never show a token. Throws `invalid_argument`. */
  constructor({ tokens, requireToken = false, local }: AuthenticatorOptions) {
    this.#known = tokens === undefined ? [] : parseTokens(tokens)
    this.#local = local
    this.#ownerWithoutToken = local && tokens === undefined && !requireToken
  }

  /**
   * `direct`: it names this machine and did not come through a proxy. Throws `unauthenticated` for a wrong token, and for none where one is
   * needed; `denied` for the owner's token from elsewhere.
   */
  viewerOf(authorization: string | null, direct: boolean): Viewer {
    if (authorization === null && direct && this.#ownerWithoutToken) return LOCAL_OWNER
    const token = /^Bearer +([^\s]+) *$/i.exec(authorization ?? '')?.[1]
    const viewer = token === undefined ? undefined : this.#find(token)
    if (viewer === undefined) throw new QuerentError('unauthenticated', 'a valid bearer token is needed', {})
    if (isOwner(viewer) && !(this.#local && direct)) {
      throw new QuerentError(
        'denied',
        'the token of the owner counts on this machine only, and not through a proxy',
        {},
      )
    }
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
