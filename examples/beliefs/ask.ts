/** One question, three agents: what each hears, and why. Needs no model: words stand in for meaning. */
import { LOCAL_OWNER, openBeliefs, SettableClock } from '../../src/index.ts'

const clock = new SettableClock(Date.parse('2026-03-01T12:00:00Z'))
await using node = await openBeliefs({ store: 'memory', embedder: 'none', clock, viewer: LOCAL_OWNER })
const { beliefs, agents, federations } = await node.loadSample()
console.log(`${beliefs} beliefs of ${agents} agents in ${federations} federations`)

const question = {
  semantic: 'mRNA vaccines rewrite DNA',
  options: { scope: { local: true, federated: true, network: true }, limit: 1 },
}
for (const id of ['my-agent-uuid', 'contrarian', 'echo-one']) {
  const agent = node.as(id)
  const answer = await agent.query(question)
  const { kind } = await agent.trust.compute({ target: 'echo-three' })
  const [first] = answer.beliefs
  console.log(`${id}: ${first?.belief.id} of ${answer.total_count}; echo-three is trusted by: ${kind}`)
}

// Hidden and missing read alike.
for (const id of ['my-password', 'no-such-belief']) {
  const message = await node
    .as('echo-one')
    .get({ belief_id: id })
    .then(
      () => 'seen',
      (error: Error) => error.message,
    )
  console.log(message)
}

// A belief of one's own, its next version, and who may see it.
const ann = node.as('ann')
const { belief: first } = await ann.put({ content: 'The ferry runs daily.', domains: ['news'], visibility: 'public' })
const { belief: next } = await ann.supersede({ belief_id: String(first?.id), content: 'The ferry runs on weekdays.' })
console.log(next.version, next.supersedes === first?.id, (await ann.count({ semantic: 'ferry' })).by_scope.local)

// Prints:
// 318 beliefs of 12 agents in 3 federations
// my-agent-uuid: my-vaccine-dna of 51; echo-three is trusted by: transitive
// contrarian: e3-dna-b of 43; echo-three is trusted by: direct
// echo-one: e2-dna-c of 41; echo-three is trusted by: direct
// belief_id: expected the id of a belief that you may see
// belief_id: expected the id of a belief that you may see
// 2 true 1
