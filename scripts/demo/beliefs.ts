/** The part of `npm run demo` that asks through the lens beliefs: one question, three agents, and why they hear otherwise. */
import { run } from './run.ts'

const QUESTION = 'do mRNA vaccines rewrite DNA'
const CLAIM = 'e3-dna'
const DENIAL = 'br-no-dna'

export function demoBeliefs(): void {
  const ask = (viewer: string, ...more: string[]) =>
    run('beliefs', 'query', QUESTION, '--viewer', viewer, '--limit', '3', ...more)
  console.log(
    '\n# The lens beliefs: what twelve agents hold true. Three of them repeat a falsehood and vouch for each other.',
  )
  run('beliefs', 'sample')

  console.log('\n# An agent that distrusts one of the three: it hears those it trusts, and what it knows itself.')
  ask('my-agent-uuid', '--explain')
  console.log('\n# One that was won over by one of the three hears that one first …')
  ask('contrarian', '--explain')
  console.log('\n# … and one of the three hears only itself and its like. They trust each other as far as one can.')
  ask('echo-one', '--explain')

  console.log('\n# Why they differ is trust: the same belief, the same meaning, the same confidence.')
  run('beliefs', 'explain', CLAIM, QUESTION, '--over', DENIAL, '--viewer', 'my-agent-uuid')
  run('beliefs', 'explain', CLAIM, QUESTION, '--over', DENIAL, '--viewer', 'contrarian')
  run('trust', 'compute', 'echo-three', '--viewer', 'my-agent-uuid')
  run('trust', 'compute', 'echo-three', '--viewer', 'contrarian')

  console.log('\n# Visibility differs too: members of a federation see what it shares, under other names.')
  for (const viewer of ['my-agent-uuid', 'contrarian', 'echo-one']) {
    run('beliefs', 'count', QUESTION, '--viewer', viewer)
  }
  console.log('\n# What a belief rests on, and what speaks against it.')
  run('beliefs', 'derivation', 'my-vaccine-dna', '--viewer', 'my-agent-uuid')
  run('beliefs', 'contradictions', DENIAL, '--viewer', 'my-agent-uuid', '--limit', '2')
}
