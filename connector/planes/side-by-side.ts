/** As many questions at a time as a broker and a machine take without noticing. */
const AT_A_TIME = 200;

/** As `Promise.all` over all nodes of a fleet, but not all at the same time. */
export async function sideBySide<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
  atATime = AT_A_TIME,
): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < items.length; index = next++) {
      const item = items[index];
      if (item !== undefined) results[index] = await work(item);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atATime, items.length) }, worker));
  return results;
}
