/**
 * The k entries with the greatest lower bounds on their scores so far, each at most once: a binary heap with the smallest bound at its
 * root. A table by entry key holds each entry's position in the heap plus 1 (0: not in the heap); `closeBest` sets the table back to zeros.
 */
let heap: usize = 0
let places: usize = 0
export let size: u32 = 0
let capacity: u32 = 0
/** Minimum score of the search: an entry whose bound is below it cannot be among the results. */
let floor: f64 = -Infinity

export function openBest(at: usize, table: usize, k: u32, least: f64): void {
  heap = at
  places = table
  size = 0
  capacity = k
  floor = least
}

export function closeBest(): void {
  for (let i: u32 = 0; i < size; i++) store<u32>(placeOf(entryAt(i)), 0)
}

/** What a row must reach to matter: the floor, or the k-th greatest lower bound where that is higher. */
// @ts-ignore: decorator
@inline
export function bar(): f64 {
  return size < capacity ? floor : max(floor, boundAt(0))
}

export function offer(entry: u32, bound: f64): void {
  const place = load<u32>(placeOf(entry))
  if (place != 0) {
    if (bound > boundAt(place - 1)) sink(place - 1, entry, bound)
  } else if (size < capacity) {
    rise(size++, entry, bound)
  } else if (bound > boundAt(0)) {
    store<u32>(placeOf(entryAt(0)), 0)
    sink(0, entry, bound)
  }
}

/**
 * Places an entry into the heap from a free position (the hole) downwards: children with smaller bounds move up, and the entry takes the
 * position that is then free.
 */
function sink(hole: u32, entry: u32, bound: f64): void {
  for (;;) {
    let child: u32 = 2 * hole + 1
    if (child >= size) break
    if (child + 1 < size && boundAt(child + 1) < boundAt(child)) child++
    if (boundAt(child) >= bound) break
    put(hole, entryAt(child), boundAt(child))
    hole = child
  }
  put(hole, entry, bound)
}

function rise(hole: u32, entry: u32, bound: f64): void {
  while (hole > 0) {
    const parent = (hole - 1) >> 1
    if (boundAt(parent) <= bound) break
    put(hole, entryAt(parent), boundAt(parent))
    hole = parent
  }
  put(hole, entry, bound)
}

// @ts-ignore: decorator
@inline
function put(place: u32, entry: u32, bound: f64): void {
  store<f64>(heap + (<usize>place << 4), bound)
  store<u32>(heap + (<usize>place << 4), entry, 8)
  store<u32>(placeOf(entry), place + 1)
}

// @ts-ignore: decorator
@inline
function boundAt(place: u32): f64 {
  return load<f64>(heap + (<usize>place << 4))
}

// @ts-ignore: decorator
@inline
function entryAt(place: u32): u32 {
  return load<u32>(heap + (<usize>place << 4), 8)
}

// @ts-ignore: decorator
@inline
function placeOf(entry: u32): usize {
  return places + (<usize>entry << 2)
}
