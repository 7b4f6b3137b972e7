/** What generated texts are made of: words drawn by how often they occur. */

/** Nobody asks for the hundred commonest words: they are "the" and "of". */
export const UNASKED = 100

/** A rank of at least `from`, drawn by share; `ends` of the words' shares of all occurrences, by rank from 0. */
export function drawRank(ends: Float64Array, from: number, uniform: () => number): number {
  const last = ends.length - 1
  const before = from === 0 ? 0 : (ends[from - 1] as number)
  const aim = before + uniform() * ((ends[last] as number) - before)
  let [low, high] = [from, last]
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((ends[middle] as number) <= aim) low = middle + 1
    else high = middle
  }
  return low
}

/** Pronounceable, and its own stem: consonants and vowels by the digits of the rank. */
export function wordOf(rank: number): string {
  let word = ''
  for (let rest = rank + 7; rest > 0; rest = Math.floor(rest / 75)) {
    word += 'bcdfgklmnprtvxz'.charAt(rest % 15) + 'aeiou'.charAt(Math.floor(rest / 15) % 5)
  }
  return `${word}k`
}
