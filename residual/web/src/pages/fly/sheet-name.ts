/** What opens over the page to fly by. */
export type SheetName = 'takeoff' | 'mode' | 'more' | 'figures' | 'messages' | 'sticks' | 'keys';
