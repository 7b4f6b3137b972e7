/** Nodes of different versions: what one cannot read it refuses with the reason, and never drops in silence (BQ-124, BQ-133). */
import { describe, expect, it } from 'vitest'
import { TransportFailure } from '../../../../../src/pipeline/transport.ts'
import { answerTo, EVERYTHING, openNorth, STRANGER, sealed } from '../../../../support/asked-node.ts'
import { openBirds, PUBLIC, say } from '../../../../support/nodes-world.ts'

async function askSouth(answers: (answer: unknown) => unknown) {
  await using birds = await openBirds()
  await say(birds.home, 'ana', 'own', 'swifts sleep in the air')
  await say(birds.south, 'dee', 'public', 'swifts fly south in august', PUBLIC)
  birds.world.transport.fault(birds.south.address, { answers })
  const { beliefs, errors } = await birds.ask('swifts')
  return { ids: beliefs.map(({ belief }) => belief.id), errors }
}

const OTHER_VERSION = [{ node: 'south', code: 'NODE_UNAVAILABLE', retryable: false, details: { reason: 'protocol' } }]

describe('a node that speaks another version of the protocol', () => {
  it('BQ-133: is reported with the reason protocol when it answers in its own version', async () => {
    const { ids, errors } = await askSouth(answer => ({ ...(answer as object), protocol: 1 }))
    expect(ids).toEqual(['own'])
    expect(errors).toMatchObject(OTHER_VERSION)
  })

  it('BQ-133: is reported with the reason protocol when it cannot read the question', async () => {
    const { ids, errors } = await askSouth(() => {
      throw new TransportFailure('refused', 'HTTP 400', { status: 400 })
    })
    expect(ids).toEqual(['own'])
    expect(errors).toMatchObject(OTHER_VERSION)
  })

  it('BQ-121: is refused with both versions when it asks', async () => {
    const { world, north } = await openNorth()
    await using _ = world
    const old = sealed(north, { ...EVERYTHING, protocol: 1 }, STRANGER)
    await expect(answerTo(north, old)).rejects.toMatchObject({
      code: 'INVALID_QUERY',
      details: { path: 'query.protocol', constraint: 'version 2 of the protocol of nodes', reason: 'protocol' },
    })
  })
})
