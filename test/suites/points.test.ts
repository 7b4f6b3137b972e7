import { openPointIndex } from '../../src/index/points.ts'
import { openReferencePoints } from '../../src/index/reference-points.ts'
import { openMemoryStore } from '../../src/store/memory-store.ts'
import { pointSuite } from '../../src/testing/point-suite.ts'
import { COLUMNS, POINTS } from '../../src/testing/point-world.ts'

const options = { name: 'places', table: POINTS, columns: COLUMNS }
const openReference = () => openReferencePoints(options)

pointSuite('grid', { openStore: openMemoryStore, openIndex: () => openPointIndex(options), openReference })

pointSuite('brute force', { openStore: openMemoryStore, openIndex: openReference, openReference })
