import { useEffect, useRef, useState } from 'preact/hooks';

const EVERY_MS = 1000;
const KEPT = 120;

/** How a value went while this view was open: one a second, of the last two minutes, the newest last. */
export function useCourse(value: number | null): readonly (number | null)[] {
  const newest = useRef(value);
  newest.current = value;
  const [course, setCourse] = useState<readonly (number | null)[]>([]);
  useEffect(() => {
    const timer = setInterval(
      () => setCourse((before) => [...before.slice(1 - KEPT), newest.current]),
      EVERY_MS,
    );
    return () => clearInterval(timer);
  }, []);
  return course;
}
