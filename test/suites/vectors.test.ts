import { openVectorIndex } from '../../src/index/vectors.ts'
import { openMemoryStore } from '../../src/store/sqlite-store.ts'
import { openReferenceVectors } from '../support/reference-vectors.ts'
import { vectorSuite } from './vector-suite.ts'

const common = { openStore: openMemoryStore, openReference: openReferenceVectors }

vectorSuite('kernel', {
  ...common,
  openIndex: (store, model, dimensions) =>
    openVectorIndex({ model, dimensions, source: chunks => store.vectors(model, chunks) }),
})

vectorSuite('kernel with cells', {
  ...common,
  openIndex: (store, model, dimensions) =>
    openVectorIndex({
      model,
      dimensions,
      source: chunks => store.vectors(model, chunks),
      cells: { dividedFrom: 12, pivotEvery: 3, prunedFrom: 0 },
    }),
})

vectorSuite('brute force', { ...common, openIndex: (_, model, dimensions) => openReferenceVectors(model, dimensions) })
