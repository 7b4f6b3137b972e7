/** Federations of this node. */
import type { JsonObject } from '../../../base/canonical.ts'
import type { Operation } from '../../../model/operation.ts'
import type { LensHost } from '../../lens.ts'
import { answers, anything, described, FLAG, OBJECT, OBJECTS, TEXT } from '../../wire-schema.ts'
import { acceptStatement } from '../agents/accept.ts'
import { machineNow } from '../agents/expiry.ts'
import {
  createFederation,
  type FederationWriting,
  joinFederation,
  leaveFederation,
  listFederations,
  setMember,
} from '../agents/federations.ts'
import { rotateFederation, stateMembership } from '../agents/statement.ts'
import {
  ANONYMITIES,
  checkFederation,
  checkMember,
  checkNothing,
  checkOnly,
  JOININGS,
  PERMISSIONS,
  RESULT_KINDS,
  ROLES,
  STATUSES,
} from '../check/agents.ts'
import { PER_ANSWER, PER_DAY } from '../check/aggregates.ts'
import { checkAccept, checkStatementInput } from '../check/statements.ts'
import { type BeliefsCall, inCall } from './call.ts'

const FEDERATION: JsonObject = described(TEXT, 'Id of the federation')
const ONE = answers({ federation: OBJECT })
const MEMBERSHIP = answers({ membership: OBJECT })

const create: Operation<LensHost> = {
  name: 'federations.create',
  summary: 'Found a federation; the asker is its first member',
  input: anything(
    {
      id: described(TEXT, 'Its name; for others than the local owner something is added that nobody else uses'),
      label: described({ type: ['string', 'null'] }, 'What it is shown as'),
      did: described({ type: ['string', 'null'] }, 'Its did:key'),
      joining: described(
        { type: 'string', enum: [...JOININGS] },
        'open: agents may join by themselves; default invited',
      ),
      results: described(
        { type: 'string', enum: [...RESULT_KINDS] },
        'aggregate: no single beliefs, but figures with noise (federations.aggregate); default individual',
      ),
      sensitive: described(FLAG, 'With aggregates: told of a topic only from ten members on, not five'),
      query_epsilon: described(
        { type: 'number', minimum: PER_ANSWER.least, maximum: PER_ANSWER.most },
        'With aggregates: privacy that an answer may cost; default 1',
      ),
      daily_epsilon: described(
        { type: 'number', minimum: PER_DAY.least, maximum: PER_DAY.most },
        'With aggregates: what all answers of a day may cost a member; default 10',
      ),
      anonymity: described(
        { type: 'string', enum: [...ANONYMITIES] },
        'strict: results show no holders, not even pseudonyms; default pseudonyms',
      ),
      reputation: described(
        { type: ['number', 'null'], minimum: 0, maximum: 1 },
        'Of the federation as a whole, by the local owner; where the asker states no trust in it',
      ),
    },
    ['id'],
  ),
  output: ONE,
  effect: { kind: 'write', idempotent: false },
  run: (host, input, context) =>
    inCall(host, context, async call => {
      const given = checkFederation(input)
      const newId = () => Buffer.from(host.random(8)).toString('hex')
      return { federation: await writing(call, write => createFederation(write, given, newId)) }
    }),
}

const join: Operation<LensHost> = {
  name: 'federations.join',
  summary: 'Join an open federation',
  input: anything({ federation: FEDERATION }, ['federation']),
  output: ONE,
  effect: { kind: 'write', idempotent: true },
  run: (host, input, context) =>
    inCall(host, context, async call => {
      const federation = checkOnly(input, 'federation')
      return { federation: await writing(call, write => joinFederation(write, federation)) }
    }),
}

const leave: Operation<LensHost> = {
  name: 'federations.leave',
  summary: 'Leave a federation: what it shares, and what the asker shares with it, is seen no more',
  input: anything({ federation: FEDERATION }, ['federation']),
  output: MEMBERSHIP,
  effect: { kind: 'write', idempotent: false },
  run: (host, input, context) =>
    inCall(host, context, async call => {
      const federation = checkOnly(input, 'federation')
      return { membership: await writing(call, write => leaveFederation(write, federation)) }
    }),
}

const member: Operation<LensHost> = {
  name: 'federations.set_member',
  summary: 'Add a member to a federation, or change its status, role and permissions',
  input: anything(
    {
      federation: FEDERATION,
      agent: described(TEXT, 'Whom'),
      status: described({ type: 'string', enum: [...STATUSES] }, 'Whether a member'),
      role: described({ type: 'string', enum: [...ROLES] }, 'As what'),
      permissions: described(
        { type: ['array', 'null'], items: { type: 'string', enum: [...PERMISSIONS] } },
        'null: all there are',
      ),
    },
    ['federation', 'agent'],
  ),
  output: MEMBERSHIP,
  effect: { kind: 'write', idempotent: true },
  run: (host, input, context) =>
    inCall(host, context, async call => {
      const given = checkMember(input)
      return { membership: await writing(call, write => setMember(write, given)) }
    }),
}

const list: Operation<LensHost> = {
  name: 'federations.list',
  summary: 'List the federations that the asker is or was in; all of them for the local owner',
  input: anything({}),
  output: answers({ federations: OBJECTS }),
  effect: { kind: 'read', idempotent: true },
  run: (host, input, context) =>
    inCall(host, context, ({ asker }) => {
      checkNothing(input)
      return { federations: host.store.read(reader => listFederations(reader, asker.id)) }
    }),
}

const statement: Operation<LensHost> = {
  name: 'federations.statement',
  summary: 'State the membership of an agent, signed by the federation, for the node of that agent',
  input: anything(
    { federation: FEDERATION, agent: described(TEXT, 'Of whom: the asker, or for those who run it any member') },
    ['federation', 'agent'],
  ),
  output: answers({
    statement: OBJECT,
    signature: described(TEXT, 'By the key of the federation'),
    rotations: described(OBJECTS, 'How it came to that key, each signed by the one before'),
  }),
  effect: { kind: 'write', idempotent: true },
  run: (host, input, context) =>
    inCall(host, context, call => {
      const given = checkStatementInput(input)
      return writing(call, write => stateMembership({ ...write, now: machineNow(host) }, given))
    }),
}

const accept: Operation<LensHost> = {
  name: 'federations.accept',
  summary: 'Take what a federation of another node states of an agent here, which may then ask in its name',
  input: anything(
    {
      statement: described(OBJECT, 'As federations.statement gave it'),
      signature: described(TEXT, 'By the key of the federation'),
      rotations: described(OBJECTS, 'How the federation came to its key'),
      repin: described(FLAG, 'By the local owner: take this key for the federation, whatever it was known by'),
    },
    ['statement', 'signature'],
  ),
  output: answers({
    federation: OBJECT,
    agent: described(TEXT, 'Whose membership it is, by its name here'),
    taken: described(FLAG, 'false: one as new, or newer, is known'),
    expires_at: TEXT,
  }),
  effect: { kind: 'write', idempotent: true },
  run: (host, input, context) =>
    inCall(host, context, call => {
      const given = checkAccept(input)
      return writing(call, write => acceptStatement(write, given, machineNow(host)))
    }),
}

const rotate: Operation<LensHost> = {
  name: 'federations.rotate',
  summary: 'Give a federation a new key, signed by the old one, which signs nothing more',
  input: anything({ federation: FEDERATION }, ['federation']),
  output: answers({ statement: OBJECT, signature: described(TEXT, 'By the old key') }),
  effect: { kind: 'write', idempotent: false },
  run: (host, input, context) =>
    inCall(host, context, call => {
      const federation = checkOnly(input, 'federation')
      return writing(call, write => rotateFederation({ ...write, now: machineNow(host) }, federation))
    }),
}

export const FEDERATION_OPERATIONS: readonly Operation<LensHost>[] = [
  create,
  join,
  leave,
  member,
  list,
  statement,
  accept,
  rotate,
]

function writing<T>({ host, asker }: BeliefsCall, act: (write: FederationWriting) => T): Promise<T> {
  const now = host.clock.now()
  const random = (bytes: number) => host.random(bytes)
  return host.store.writeWhenFree(now, writer => act({ writer, viewer: asker.id, now, random }))
}
