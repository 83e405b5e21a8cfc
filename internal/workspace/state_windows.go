package workspace

const noFollow = 0
