// Whether people touch the screen: then Enter is for a new line, and fields do not take the focus by themselves.

export const touch = () => matchMedia("(pointer: coarse)").matches;
