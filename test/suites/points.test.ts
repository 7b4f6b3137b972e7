import { openPointIndex } from '../../src/index/points.ts'
import { openMemoryStore } from '../../src/store/sqlite-store.ts'
import { COLUMNS, POINTS } from '../support/point-world.ts'
import { openReferencePoints } from '../support/reference-points.ts'
import { pointSuite } from './point-suite.ts'

const options = { name: 'places', table: POINTS, columns: COLUMNS }
const openReference = () => openReferencePoints(options)

pointSuite('grid', { openStore: openMemoryStore, openIndex: () => openPointIndex(options), openReference })

pointSuite('brute force', { openStore: openMemoryStore, openIndex: openReference, openReference })
